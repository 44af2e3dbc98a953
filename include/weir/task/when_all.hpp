// weir task: awaits many at once
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_WHEN_ALL_HPP
#define WEIR_TASK_WHEN_ALL_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/foreign_executor.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all_join.hpp>

#include <concepts>     // for std::copy_constructible
#include <coroutine>    // for std::coroutine_handle, std::suspend_never
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::exception_ptr
#include <functional>   // for std::reference_wrapper
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::is_move_constructible_v
#include <utility>      // for std::move
#include <variant>      // for std::monostate
#include <vector>       // for std::vector

namespace weir {

namespace detail {

template <class T>
using non_void = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

// A vector holds no references: a task's becomes what is one again by itself.
template <class T>
using in_vector =
    std::conditional_t<std::is_lvalue_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>,
                       std::remove_cvref_t<T>>;

template <class Part>
decltype(auto) take_non_void(Part&& part) {
    if constexpr (std::is_void_v<decltype(part.take())>) {
        part.take();
        return std::monostate();
    } else {
        return part.take();
    }
}

// The frame of a task, or of a part of a join, which the caller owns then; null: there is none.
template <class A>
void* release_frame(A& it) noexcept {
    if constexpr (is_task<A>) {
        constexpr bool is_found = task_promise_base::is_in_its_place<typename A::promise_type>;
        return is_found ? joining<typename A::value_type>::release(it) : nullptr;
    } else if constexpr (joins_frames<A>) {
        return it.release_one();
    } else {
        return nullptr;
    }
}
template <class... Parts>
void* release_part(std::tuple<Parts...>& parts) noexcept {
    void* frame = nullptr;
    std::apply([&](auto&... each) { ((frame != nullptr || (frame = detail::release_frame(each))), ...); },
               parts);
    return frame;
}
template <class Part>
void* release_part(std::vector<Part>& parts) noexcept {
    void* frame = nullptr;
    for (std::size_t i = 0; frame == nullptr && i < parts.size(); ++i)
        frame = detail::release_frame(parts[i]);
    return frame;
}

// One of the awaitables: a task starts by itself, anything else in a coroutine around it. What can't be
// moved into the join stays where it is.
template <class A>
class when_all_part final : detached_task_owner {
    static_assert(
        std::is_reference_v<A> || !std::is_lvalue_reference_v<await_result_t<A>>,
        "weir: when_all would give a reference that may be into an awaitable that is gone by then: "
        "give the awaitable a name that outlives the result, and that to when_all; or await it in a "
        "task that gives a value");
    using kept = std::conditional_t<std::is_move_constructible_v<A>, A, A&&>;

  public:
    static constexpr bool runs_tasks_only = false;

    explicit when_all_part(A&& a)
        : awaitable_(std::forward<A>(a)),
          detached_task_(detail::make_detached_task<await_result_t<A>, kept>(awaitable_)) {}

    std::coroutine_handle<> start(when_all_join& join, executor& ex, const end_token* ends,
                                  std::coroutine_handle<>) noexcept {
        join_ = &join;
        return detached_task_.prepare(ex, nullptr, *this, ends);
    }
    // A moved task that is awaited in here is checked by that.
    void check_valid() const {
        if (join_ != nullptr) detail::refuse_task();
    }
    void* release_one() noexcept { return detail::release_frame(awaitable_); }
    bool has_exception() const noexcept { return detached_task_.has_exception(); }
    std::exception_ptr exception() const noexcept { return detached_task_.exception(); }
    decltype(auto) take() { return detached_task_.take(); }

  private:
    void ended() noexcept override { join_->ended(); }

    kept awaitable_;
    detached_task<await_result_t<A>> detached_task_;
    when_all_join* join_ = nullptr;
};
template <class A>
using when_all_kept = std::conditional_t<is_task<A>, A, when_all_part<A>>;

// What the join does with each of them.
template <class A>
when_all_part<A>& as_part(when_all_part<A>& part) noexcept {
    return part;
}
template <class T>
joining<T> as_part(task<T>& part) noexcept {
    return joining<T>(part);
}

template <class... As>
class [[nodiscard("co_await this, or nothing of it runs")]] when_all_tuple {
  public:
    static constexpr bool goes_on_with_parts = true;

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

    void* release_one() noexcept { return detail::release_part(parts_); }

  private:
    std::tuple<when_all_kept<As>...> parts_;
    when_all_join join_{sizeof...(As)};
};

template <class A>
class [[nodiscard("co_await this, or nothing of it runs")]] when_all_vector {
    using value = joined_result_t<A>;

  public:
    static constexpr bool goes_on_with_parts = true;

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

    // Resumes as above.
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

    void* release_one() noexcept { return detail::release_part(parts_); }

  private:
    std::vector<when_all_kept<A>> parts_;
    when_all_join join_;
};

template <class V>
concept copyable_awaitables =
    std::same_as<V, std::vector<typename V::value_type>> && awaitable<typename V::value_type> &&
    std::copy_constructible<typename V::value_type>;

}  // namespace detail

/// Awaits all of its arguments, which run at the same time where the executor has several threads.
///
/// \returns  awaitable of a tuple of the results in the order of the arguments (`std::monostate` for
///           void; the value for an rvalue reference that isn't a task's); of nothing if all are void.
/// Suspends: always, unless there are no arguments. Resumes: on the awaiter's executor, when the last
///           has ended; one of another library that runs on none where a `channel` would resume it, and
///           there the parts run, too.
/// Errors:   all are joined first; then the error of the first in the order of the arguments is
///           thrown. The other errors are dropped, and the results are destroyed: an item that must outlive
///           the error of another part is kept by its task, not given as a result. `std::logic_error`, and
///           none is started, where one is a task with nothing to await, and from a second await.
/// Threads:  each part is posted to the awaiter's executor.
/// Lifetime: arguments are moved in; one that can't be moved (a sleep, a put, a get) is kept by
///           reference: await in the same expression. One that gives a reference has a name, or is a
///           task, as that may be into the awaitable.
/// Cost:     one allocation for each part.
template <awaitable... As>
auto when_all(As&&... parts) {
    return detail::when_all_tuple<As...>(std::forward<As>(parts)...);
}

/// The same for any number of awaitables of one type: a vector of their results in the same order; of
/// `std::reference_wrapper` where those are references.
template <awaitable A>
auto when_all(std::vector<A>&& parts) {
    return detail::when_all_vector<A>(std::move(parts));
}

/// The same with copies of them.
template <detail::copyable_awaitables V>
auto when_all(const V& parts) {
    return detail::when_all_vector<typename V::value_type>(V(parts));
}

/// Rejects what is not an awaitable at compile time.
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
