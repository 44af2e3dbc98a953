// weir floor 5: awaits many at once
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_WHEN_ALL_HPP
#define WEIR_WHEN_ALL_HPP

#include <weir/awaitable.hpp>
#include <weir/detail/env.hpp>
#include <weir/detail/platform.hpp>
#include <weir/detail/slot.hpp>
#include <weir/executor.hpp>
#include <weir/root.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::exception_ptr
#include <stdexcept>    // for std::logic_error
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::is_move_constructible_v
#include <utility>      // for std::move
#include <variant>      // for std::monostate
#include <vector>       // for std::vector

namespace weir {

namespace detail {

// Starts the parts, and wakes the awaiting coroutine when the last has ended.
class when_all_join : public root_owner {
  public:
    explicit when_all_join(std::size_t parts) noexcept : left_(parts + 1) {}

    // acq_rel: the last one to leave sees what all parts wrote.
    void ended() noexcept override {
        if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        executor* const home = home_;
        if (measured_ != nullptr) ready_ = clock_of(*measured_);
        home->post(awaiter_);  // the join may be gone from here on
    }

    // `start_part(home, owner)` posts every part. False if all have ended by the time it returns.
    template <class StartParts>
    bool start(std::coroutine_handle<> awaiter, const coroutine_env& env, StartParts start_parts) {
        executor* const home = env.home;
        if (home == nullptr) {
            throw std::logic_error(
                "weir: when_all is awaited by a coroutine that no executor runs; start it with "
                "sync_wait, or co_await schedule(executor) first");
        }
        awaiter_ = awaiter;
        home_ = home;
        measured_ = env.measured;
        start_parts(*home);
        return left_.fetch_sub(1, std::memory_order_acq_rel) != 1;
    }

    // For whoever accounts the wait: when the last part ended; 0 if nobody does.
    std::int64_t ready_at() const noexcept { return ready_; }

  private:
    standard_platform::atomic<std::size_t> left_;
    std::coroutine_handle<> awaiter_;
    executor* home_ = nullptr;
    slot* measured_ = nullptr;
    std::int64_t ready_ = 0;
};

template <class T>
using non_void = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
non_void<T> take_non_void(root<T>& r) {
    if constexpr (std::is_void_v<T>) {
        r.take();
        return {};
    } else {
        return r.take();
    }
}

// What can't be moved into the join stays where it is.
template <class A>
using kept = std::conditional_t<std::is_move_constructible_v<A>, A, A&&>;

template <class... As>
class [[nodiscard("co_await this, or nothing of it runs")]] when_all_tuple {
  public:
    explicit when_all_tuple(As&&... parts)
        : parts_(std::forward<As>(parts)...), roots_(make_roots(std::index_sequence_for<As...>())) {}
    when_all_tuple(const when_all_tuple&) = delete;
    when_all_tuple& operator=(const when_all_tuple&) = delete;

    bool await_ready() const noexcept { return sizeof...(As) == 0; }

    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return join_.start(h, env_of(h), [this](executor& home) {
            std::apply([&](auto&... roots) { (roots.start(home, nullptr, join_), ...); }, roots_);
        });
    }

    std::int64_t ready_at() const noexcept { return join_.ready_at(); }

    auto await_resume() {
        std::exception_ptr first;
        std::apply(
            [&](auto&... roots) {
                ((first = !first && roots.has_exception() ? roots.exception() : first), ...);
            },
            roots_);
        if (first) std::rethrow_exception(std::move(first));
        if constexpr (!(std::is_void_v<await_result_t<As>> && ...)) {
            return std::apply(
                [](auto&... roots) {
                    return std::tuple<non_void<await_result_t<As>>...>(take_non_void(roots)...);
                },
                roots_);
        }
    }

  private:
    template <std::size_t... I>
    auto make_roots(std::index_sequence<I...>) {
        return std::tuple<root<await_result_t<As>>...>(
            make_root<await_result_t<As>, std::tuple_element_t<I, std::tuple<kept<As>...>>>(
                std::get<I>(parts_))...);
    }

    std::tuple<kept<As>...> parts_;
    std::tuple<root<await_result_t<As>>...> roots_;
    when_all_join join_{sizeof...(As)};
};

template <class A>
class [[nodiscard("co_await this, or nothing of it runs")]] when_all_vector {
    using value = await_result_t<A>;

  public:
    explicit when_all_vector(std::vector<A>&& parts) : parts_(std::move(parts)), join_(parts_.size()) {
        roots_.reserve(parts_.size());
        for (A& part : parts_) roots_.push_back(make_root<value, A>(part));
    }
    when_all_vector(const when_all_vector&) = delete;
    when_all_vector& operator=(const when_all_vector&) = delete;

    bool await_ready() const noexcept { return parts_.empty(); }

    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return join_.start(h, env_of(h), [this](executor& home) {
            for (root<value>& part : roots_) part.start(home, nullptr, join_);
        });
    }

    std::int64_t ready_at() const noexcept { return join_.ready_at(); }

    auto await_resume() {
        for (root<value>& part : roots_) {
            if (part.has_exception()) std::rethrow_exception(part.exception());
        }
        if constexpr (!std::is_void_v<value>) {
            std::vector<value> values;
            values.reserve(roots_.size());
            for (root<value>& part : roots_) values.push_back(part.take());
            return values;
        }
    }

  private:
    std::vector<A> parts_;
    std::vector<root<value>> roots_;
    when_all_join join_;
};

}  // namespace detail

/// Awaits all of its arguments, which run at the same time where the executor has several threads.
///
/// \returns  awaitable of a tuple of the results in the order of the arguments (`std::monostate` for
///           void); of nothing if all are void.
/// Suspends: always, unless there are no arguments. Resumes: on the awaiter's executor, when the last
///           has ended.
/// Errors:   all are joined first; then the error of the first in the order of the arguments is
///           thrown, the others are dropped.
/// Threads:  each part is posted to the awaiter's executor.
/// Lifetime: arguments are moved in; one that can't be moved (a sleep, a put, a get) is kept by
///           reference: await in the same expression.
/// Cost:     one allocation for each part.
template <awaitable... As>
auto when_all(As&&... parts) {
    return detail::when_all_tuple<As...>(std::forward<As>(parts)...);
}

/// The same for any number of awaitables of one type: a vector of their results in the same order.
template <awaitable A>
auto when_all(std::vector<A> parts) {
    return detail::when_all_vector<A>(std::move(parts));
}

}  // namespace weir

#endif
