// weir task: when_all: awaits several awaitables at the same time
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_WHEN_ALL_HPP
#define WEIR_TASK_WHEN_ALL_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/join.hpp>
#include <weir/task/task.hpp>

#include <coroutine>    // for std::coroutine_handle, std::suspend_never
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::forward, std::move
#include <vector>       // for std::vector

namespace weir {

namespace detail {

// A task is started as it is. Any other awaitable is wrapped.
template <class A>
using when_all_part = std::conditional_t<is_task<A>, A, wrapped_part<A, when_all_join>>;

// Returns the interface of a part by which the join starts it, checks it, and takes its result.
template <class A>
wrapped_part<A, when_all_join>& as_part(wrapped_part<A, when_all_join>& part) noexcept {
    return part;
}
template <class T>
joined_task_ref<T> as_part(task<T>& part) noexcept {
    return joined_task_ref<T>(part);
}

// The awaitable of `when_all` of several arguments.
template <class... As>
class [[nodiscard("co_await this, or nothing of it runs")]] when_all_tuple {
  public:
    static constexpr bool resumes_own_parts = true;  // tag: the coroutine that runs next is one of the parts

    explicit when_all_tuple(As&&... parts) : parts_(std::forward<As>(parts)...) {}
    when_all_tuple(const when_all_tuple&) = delete;
    when_all_tuple& operator=(const when_all_tuple&) = delete;

    bool await_ready() {
        std::apply([](auto&... parts) { (detail::as_part(parts).check_valid(), ...); }, parts_);
        return sizeof...(As) == 0;
    }

    // Resumes on the awaiter's executor, when the last part has ended; see `when_all`.
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
        if constexpr (sizeof...(As) == 0) {
            return h;
        } else {
            return std::apply(
                [&](auto& first, auto&... others) {
                    return join_.start(h, detail::as_part(first),
                                       [&]([[maybe_unused]] auto& where, [[maybe_unused]] executor& ex,
                                           [[maybe_unused]] const end_token* ends) {
                                           std::coroutine_handle<> last;
                                           ((last =
                                                 join_.fork(where, detail::as_part(others), ex, ends, last)),
                                            ...);
                                           return last;
                                       });
                },
                parts_);
        }
    }

    // For the times of a slot (worker of a stage): when the last part ended, in ns; 0: there is no slot.
    std::int64_t ready_at() const noexcept { return join_.ready_at(); }

    auto await_resume() {
        std::apply([](auto&... parts) { (when_all_join::rethrow(detail::as_part(parts)), ...); }, parts_);
        if constexpr (!(std::is_void_v<await_result_t<As>> && ...)) {
            return std::apply(
                [](auto&... parts) {
                    return std::tuple<non_void<joined_result_t<As>>...>(
                        detail::take_non_void(detail::as_part(parts))...);
                },
                parts_);
        }
    }

    // Called when the awaiting coroutine is destroyed, until it returns null. Gives up the frame of one part,
    // which the caller destroys. Null: no such frame is left.
    void* release_one() noexcept { return detail::release_part(parts_); }

  private:
    std::tuple<when_all_part<As>...> parts_;
    when_all_join join_{sizeof...(As)};
};

// The awaitable of `when_all` of a vector.
template <class A>
class [[nodiscard("co_await this, or nothing of it runs")]] when_all_vector {
    using value = joined_result_t<A>;

  public:
    static constexpr bool resumes_own_parts = true;

    explicit when_all_vector(std::vector<A>&& parts) : join_(parts.size()) {
        if constexpr (is_task<A>) {
            parts_ = std::move(parts);
        } else {
            parts_.reserve(parts.size());  // no part moves after this
            for (A& part : parts) parts_.emplace_back(std::move(part));
        }
    }
    when_all_vector(const when_all_vector&) = delete;
    when_all_vector& operator=(const when_all_vector&) = delete;

    bool await_ready() {
        for (auto& part : parts_) detail::as_part(part).check_valid();
        return parts_.empty();
    }

    // Resumes as with `when_all_tuple`.
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
        const std::size_t n = parts_.size();
        return join_.start(h, detail::as_part(parts_.front()),
                           [this, n](auto& where, executor& ex, const end_token* ends) {
                               std::coroutine_handle<> last;
                               for (std::size_t i = 1; i < n; ++i)
                                   last = join_.fork(where, detail::as_part(parts_[i]), ex, ends, last);
                               return last;
                           });
    }

    std::int64_t ready_at() const noexcept { return join_.ready_at(); }

    auto await_resume() {
        for (auto& part : parts_) when_all_join::rethrow(detail::as_part(part));
        if constexpr (!std::is_void_v<value>) {
            std::vector<in_vector<value>> values;
            values.reserve(parts_.size());
            for (auto& part : parts_) values.emplace_back(detail::as_part(part).take());
            return values;
        }
    }

    // As in `when_all_tuple`.
    void* release_one() noexcept { return detail::release_part(parts_); }

  private:
    std::vector<when_all_part<A>> parts_;
    when_all_join join_;
};

}  // namespace detail

/// Awaits all of its arguments. They run at the same time where the executor has several threads.
///
///     const auto [a, b] = co_await weir::when_all(twice(1), twice(2));
///
/// \returns  awaitable of a tuple of the results, in the order of the arguments; of nothing if all results
///           are void. In the tuple, `std::monostate` stands for void, and a value for an rvalue reference,
///           unless a task returns that reference.
/// Suspends: always, unless there are no arguments.
/// Resumes:  on the awaiter's executor, when the last part has ended. The parts run on that executor, too.
///           But if the last part is a task that ends on a thread of another executor, the awaiter may
///           continue there until its next wait. A coroutine of another library resumes on the executor that
///           its promise names, or on a thread of this library: see `channel`.
/// Errors:   first all parts end. Then the exception of the first failed part, in the order of the arguments,
///           is thrown, and all other exceptions and results are dropped. So a task should keep an item that
///           must not be dropped, rather than return it. `std::logic_error`, by the await, if a task was
///           awaited before or is empty (no part is started then), and for a second await.
/// Threads:  each part may run on any thread of the awaiter's executor.
/// Lifetime: arguments are moved in. An argument that can't be moved (a sleep, a put, a get) is kept by
///           reference: await in the same expression. An awaitable whose result is a reference, which may be
///           into the awaitable, must be a task or an lvalue.
/// Cost:     one allocation for each argument that is not a task.
template <awaitable... As>
auto when_all(As&&... parts) {
    return detail::when_all_tuple<As...>(std::forward<As>(parts)...);
}

/// The same as `when_all` above, for any number of awaitables of one type.
/// \returns  awaitable of a vector of the results, in the same order; of nothing if the results are void.
///           Lvalue references become `std::reference_wrapper`s, rvalue references values.
template <awaitable A>
auto when_all(std::vector<A>&& parts) {
    return detail::when_all_vector<A>(std::move(parts));
}

/// The same as `when_all` of a vector, with copies of the awaitables.
template <detail::copyable_awaitables V>
auto when_all(const V& parts) {
    return detail::when_all_vector<typename V::value_type>(V(parts));
}

/// Rejects other arguments at compile time.
template <class... As>
    requires(!(awaitable<As> && ...) && !(detail::copyable_awaitables<std::remove_cvref_t<As>> && ...))
auto when_all(As&&...) {
    static_assert(
        (awaitable<As> && ...),
        "weir: when_all needs awaitables, or a vector of them; an argument is none. If it is a "
        "coroutine function, call it; if it is a task with a name, or a vector of tasks, it gives its "
        "results away: when_all(std::move(it))");
    return std::suspend_never();
}

}  // namespace weir

#endif
