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

// Starts the parts, and wakes the awaiting coroutine when the last has ended.
class when_all_join : public task_join, public detached_task_owner {
  public:
    explicit when_all_join(std::size_t parts) noexcept : left_(parts) {}

    void ended() noexcept override {
        if (one_less()) executor_->post(awaiter_);  // the join may be gone from here on
    }

    // Where the last one ended, the awaiting coroutine goes on, if it belongs there.
    std::coroutine_handle<> task_ended(executor* here, std::coroutine_handle<>) noexcept override {
        if (!one_less()) return std::noop_coroutine();
        if (here == executor_) {
            if (const auto next = trampoline::transfer_at_work(awaiter_)) return next;
        }
        executor_->post(awaiter_);
        return std::noop_coroutine();
    }

    // The awaiter is resumed on its executor, by the part that ends last. Returns what runs next.
    // `start_others(ex)` forks all parts but the first.
    template <class First, class StartOthers>
    std::coroutine_handle<> start(std::coroutine_handle<> awaiter, const coroutine_env& env, First& first,
                                  StartOthers start_others) {
        executor* const ex = &detail::executor_of(env);
        awaiter_ = awaiter;
        executor_ = ex;
        measured_ = env.measured;
        const std::coroutine_handle<> h = first.start(*this, *ex, env.ends);
        if (ex->traits().continues_with_forks && current_executor() == ex) {
            start_others(*ex);
            return trampoline::transfer(h);
        }
        ex->fork(h);  // the join may be gone from here on if there are no others
        start_others(*ex);
        return std::noop_coroutine();
    }

    // For whoever accounts the wait: when the last part ended; 0 if nobody does.
    std::int64_t ready_at() const noexcept { return ready_; }

  private:
    // acq_rel, and acquire; both pair with the acq_rel of the others: the last one to leave sees what all
    // parts wrote. Who finds itself the last one needs no read-modify-write.
    bool one_less() noexcept {
        if (left_.load(std::memory_order_acquire) != 1 &&
            left_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
            return false;
        }
        if (measured_ != nullptr) ready_ = clock_of(*measured_);
        return true;
    }

    standard_platform::atomic<std::size_t> left_;
    std::coroutine_handle<> awaiter_;
    executor* executor_ = nullptr;
    slot* measured_ = nullptr;
    std::int64_t ready_ = 0;
};

template <class T>
using non_void = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

// A vector holds no references: a task's becomes what is one again by itself.
template <class T>
using in_vector =
    std::conditional_t<std::is_lvalue_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>,
                       std::remove_cvref_t<T>>;

template <class Part>
decltype(auto) take_non_void(Part& part) {
    if constexpr (std::is_void_v<decltype(part.take())>) {
        part.take();
        return std::monostate();
    } else {
        return part.take();
    }
}

// One of the awaitables: a task starts by itself, anything else in a coroutine around it. What can't be
// moved into the join stays where it is.
template <class A>
class when_all_part {
    static_assert(
        std::is_reference_v<A> || !std::is_lvalue_reference_v<await_result_t<A>>,
        "weir: when_all would give a reference that may be into an awaitable that is gone by then: "
        "give the awaitable a name that outlives the result, and that to when_all; or await it in a "
        "task that gives a value");
    using kept = std::conditional_t<std::is_move_constructible_v<A>, A, A&&>;

  public:
    explicit when_all_part(A&& a)
        : awaitable_(std::forward<A>(a)),
          detached_task_(detail::make_detached_task<await_result_t<A>, kept>(awaitable_)) {}

    std::coroutine_handle<> start(when_all_join& join, executor& ex, const end_token* ends) noexcept {
        return detached_task_.prepare(ex, nullptr, join, ends);
    }
    bool has_exception() const noexcept { return detached_task_.has_exception(); }
    std::exception_ptr exception() const noexcept { return detached_task_.exception(); }
    decltype(auto) take() { return detached_task_.take(); }

  private:
    kept awaitable_;
    detached_task<await_result_t<A>> detached_task_;
};
template <class T>
class when_all_part<task<T>> : public joined_task<T> {
  public:
    using joined_task<T>::joined_task;
};

template <class... As>
class [[nodiscard("co_await this, or nothing of it runs")]] when_all_tuple {
  public:
    explicit when_all_tuple(As&&... parts) : parts_(std::forward<As>(parts)...) {}
    when_all_tuple(const when_all_tuple&) = delete;
    when_all_tuple& operator=(const when_all_tuple&) = delete;

    bool await_ready() const noexcept { return sizeof...(As) == 0; }

    // Resumes on the awaiter's executor, when the last part has ended; see `when_all`.
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
        if constexpr (sizeof...(As) == 0) {
            return h;
        } else {
            const coroutine_env env = detail::env_of(h);
            return std::apply(
                [&](auto& first, auto&... others) {
                    return join_.start(h, env, first, [&](executor& ex) {
                        (ex.fork(others.start(join_, ex, env.ends)), ...);
                    });
                },
                parts_);
        }
    }

    std::int64_t ready_at() const noexcept { return join_.ready_at(); }

    auto await_resume() {
        std::exception_ptr first;
        std::apply(
            [&](auto&... parts) {
                ((first = !first && parts.has_exception() ? parts.exception() : first), ...);
            },
            parts_);
        if (first) std::rethrow_exception(std::move(first));
        if constexpr (!(std::is_void_v<await_result_t<As>> && ...)) {
            return std::apply(
                [](auto&... parts) {
                    return std::tuple<non_void<joined_result_t<As>>...>(detail::take_non_void(parts)...);
                },
                parts_);
        }
    }

  private:
    std::tuple<when_all_part<As>...> parts_;
    when_all_join join_{sizeof...(As)};
};

template <class A>
class [[nodiscard("co_await this, or nothing of it runs")]] when_all_vector {
    using value = joined_result_t<A>;

  public:
    explicit when_all_vector(std::vector<A>&& parts) : join_(parts.size()) {
        parts_.reserve(parts.size());  // no part moves after this
        for (A& part : parts) parts_.emplace_back(std::move(part));
    }
    when_all_vector(const when_all_vector&) = delete;
    when_all_vector& operator=(const when_all_vector&) = delete;

    bool await_ready() const noexcept { return parts_.empty(); }

    // Resumes as above.
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
        const std::size_t n = parts_.size();
        const coroutine_env env = detail::env_of(h);
        return join_.start(h, env, parts_.front(), [this, n, ends = env.ends](executor& ex) {
            for (std::size_t i = 1; i < n; ++i) ex.fork(parts_[i].start(join_, ex, ends));
        });
    }

    std::int64_t ready_at() const noexcept { return join_.ready_at(); }

    auto await_resume() {
        for (auto& part : parts_) {
            if (part.has_exception()) std::rethrow_exception(part.exception());
        }
        if constexpr (!std::is_void_v<value>) {
            std::vector<in_vector<value>> values;
            values.reserve(parts_.size());
            for (auto& part : parts_) values.emplace_back(part.take());
            return values;
        }
    }

  private:
    std::vector<when_all_part<A>> parts_;
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
///           thrown, the others are dropped.
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
