// weir task: when_any: awaits several awaitables until the first has ended, and stops the others
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_WHEN_ANY_HPP
#define WEIR_TASK_WHEN_ANY_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/join.hpp>
#include <weir/task/slot_accounting.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/when_all.hpp>

#include <coroutine>    // for std::coroutine_handle, std::suspend_never
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::integral_constant, std::is_void_v
#include <utility>      // for std::forward, std::index_sequence, std::pair
#include <variant>      // for std::variant
#include <vector>       // for std::vector

namespace weir {

/// The result of `when_any`: as base class the result of the first to end, and as member those of the others.
template <class First, class Others>
class when_any_result : public First {
  public:
    /// Moves in the result of the first argument to end, and those of the others.
    when_any_result(First&& result, Others&& rest) : First(std::move(result)), others(std::move(rest)) {}

    /// One `optional` for each argument, in their order. Empty for the first to end, and for arguments that
    /// threw. An argument that was stopped has thrown `stopped`.
    Others others;
};

namespace detail {

template <class... As>
inline constexpr bool moves_item<when_all_tuple<As...>> = (moves_item<std::remove_cvref_t<As>> || ...);

// Starts the parts of a when_any. Requests the others to stop when the first has ended, and resumes the
// awaiting coroutine when all have ended.
class when_any_join {
  public:
    explicit when_any_join(std::size_t parts) noexcept : left_(parts + 1) {}
    when_any_join(const when_any_join&) = delete;
    when_any_join& operator=(const when_any_join&) = delete;

    // The part that ends last resumes the awaiter on its executor. False: all parts have ended already.
    // `start_parts(ex, ends)` posts all parts.
    template <class Promise, class Start>
    bool start(std::coroutine_handle<Promise> awaiter, Start start_parts) {
        const coroutine_env env = detail::env_of(awaiter);
        executor& ex = detail::executor_of(env);
        awaiter_ = awaiter;
        executor_ = &ex;
        measured_ = env.measured;
        if (env.ends != nullptr) {
            ends_.work = env.ends->work;
            on_end_.emplace(*env.ends->stop, stop_parts{&stop_});
        }
        start_parts(ex, ends_);
        return !is_last();
    }

    void part_ended(const void* part) noexcept {  // called by each part, as its last action
        // relaxed: selects one part; is_last() orders `first_`, which is read after all parts have ended
        if (!has_first_.exchange(true, std::memory_order_relaxed)) {
            first_ = part;
            stop_.request_stop();
        }
        if (!is_last()) return;
        if (measured_ != nullptr) ready_ = clock_of(*measured_);
        executor_->post(awaiter_);  // the join may be gone from here on
    }

    // The `wrapped_part` that ended first. To be called when all parts have ended. Unregisters `on_end_`.
    const void* first() noexcept {
        on_end_.reset();  // waits for a callback that runs right now
        return first_;
    }
    // When the awaiter was posted, by the clock of its slot (worker of a stage); 0: not posted, or no slot.
    std::int64_t ready_at() const noexcept { return ready_; }

  private:
    struct stop_parts {  // the callback of `on_end_`
        const stop_source* parts;
        void operator()() const noexcept { parts->request_stop(); }
    };

    // acq_rel; pairs with itself: the last part sees what all parts did
    bool is_last() noexcept { return left_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

    template <class T>
    using atomic = standard_platform::atomic<T>;
    atomic<std::size_t> left_;       // parts that have not ended, and 1 until `start` has started them
    atomic<bool> has_first_{false};  // a part has ended
    const void* first_ = nullptr;    // the part that ended first
    const stop_source stop_;         // requests the other parts to stop
    const stop_token token_{stop_.get_token()};
    end_token ends_{&token_};  // ends the waits of the parts
    std::coroutine_handle<> awaiter_;
    executor* executor_ = nullptr;
    slot* measured_ = nullptr;  // the awaiter's slot (worker of a stage); null: none
    std::int64_t ready_ = 0;
    std::optional<stop_callback<stop_parts>> on_end_;  // passes on what ends the awaiter's waits
};

template <class A>
struct when_any_argument {  // checks an argument of type A, and names its types
    static_assert(
        !moves_item<std::remove_cvref_t<A>>,
        "weir: when_any doesn't take an operation that moves an item, as it would drop the item of "
        "one that ends as the others do: select(on_get(a), on_put(b, item), after(10ms)) does exactly "
        "one of several; get_for(10ms) and put_for(item, 10ms) wait for some time; what a task gives "
        "that isn't the first to end is in `others` of the result");
    using part = wrapped_part<A, when_any_join>;
    using value = typename part::value_type;
};

// The result of a part that has ended; empty if it was the first to end, or threw.
template <class Part>
std::optional<typename Part::value_type> take_other(Part& part, bool is_first) {
    if (is_first || part.has_exception()) return std::nullopt;
    return std::optional<typename Part::value_type>(detail::take_non_void(part));
}

template <class... As>
class when_any_tuple {  // the awaitable of `when_any` of several arguments
    using first_result = std::variant<typename when_any_argument<As>::value...>;
    using others = std::tuple<std::optional<typename when_any_argument<As>::value>...>;
    using result = when_any_result<first_result, others>;

  public:
    explicit when_any_tuple(As&&... parts) : parts_(std::forward<As>(parts)...) {}
    when_any_tuple(const when_any_tuple&) = delete;
    when_any_tuple& operator=(const when_any_tuple&) = delete;

    bool await_ready() const {
        std::get<0>(parts_).check_valid();
        return false;
    }
    // Resumes on the awaiter's executor, when the last part has ended.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return join_.start(h, [this](executor& ex, const end_token& ends) {
            std::apply([&](auto&... parts) { (ex.post(parts.start(join_, ex, &ends)), ...); }, parts_);
        });
    }
    std::int64_t ready_at() const noexcept { return join_.ready_at(); }
    // Called when the awaiter is destroyed. Gives up one part's frame to the caller; null: none is left.
    void* release_one() noexcept { return detail::release_part(parts_); }
    result await_resume() { return take(join_.first(), std::index_sequence_for<As...>()); }

  private:
    template <std::size_t... Index>
    result take(const void* first, std::index_sequence<Index...>) {
        std::optional<first_result> r;
        const auto take_first = [&](auto index, auto& part) {
            if (part.is(first)) r.emplace(std::in_place_index<index.value>, detail::take_non_void(part));
        };
        (take_first(std::integral_constant<std::size_t, Index>(), std::get<Index>(parts_)), ...);
        return result(*std::move(r),
                      {detail::take_other(std::get<Index>(parts_), std::get<Index>(parts_).is(first))...});
    }

    when_any_join join_{sizeof...(As)};
    std::tuple<typename when_any_argument<As>::part...> parts_;
};

template <class A>
class when_any_vector {  // the awaitable of `when_any` of a vector
    using value = typename when_any_argument<A>::value;

  public:
    explicit when_any_vector(std::vector<A>&& parts) : join_(parts.size()) {
        if (parts.empty()) {
            throw std::invalid_argument(
                "weir: when_any of an empty vector would never end; give it one awaitable at least");
        }
        parts_.reserve(parts.size());  // no part moves after this
        for (A& part : parts) parts_.emplace_back(std::move(part));
    }
    when_any_vector(const when_any_vector&) = delete;
    when_any_vector& operator=(const when_any_vector&) = delete;

    bool await_ready() const {
        parts_.front().check_valid();
        return false;
    }
    // Resumes as with `when_any_tuple`.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return join_.start(h, [this](executor& ex, const end_token& ends) {
            for (auto& part : parts_) ex.post(part.start(join_, ex, &ends));
        });
    }
    std::int64_t ready_at() const noexcept { return join_.ready_at(); }
    // As in `when_any_tuple`.
    void* release_one() noexcept { return detail::release_part(parts_); }
    auto await_resume() {
        const void* const first = join_.first();
        std::size_t index = 0;
        while (!parts_[index].is(first)) ++index;
        if constexpr (std::is_void_v<await_result_t<A>>) {
            parts_[index].take();
            return index;
        } else {
            std::pair<std::size_t, value> result(index, parts_[index].take());
            std::vector<std::optional<value>> others;
            others.reserve(parts_.size());
            for (auto& part : parts_) others.push_back(detail::take_other(part, part.is(first)));
            return when_any_result(std::move(result), std::move(others));
        }
    }

  private:
    when_any_join join_;
    std::vector<typename when_any_argument<A>::part> parts_;
};

}  // namespace detail

/// Runs all of its arguments until the first has ended, then requests the others to stop, and waits until
/// they have ended: no argument outlives the await.
///
/// \returns  awaitable of a `when_any_result`, which is a `std::variant` of the results, in the order of the
///           arguments; `index()` is that of the first to end. `std::monostate` stands for void,
///           `std::reference_wrapper` for an lvalue reference, a value for an rvalue reference. The member
///           `others` has the results of the arguments that ended later and threw nothing, for example of a
///           task that got an item before the stop.
///           An operation that moves an item by itself, as `channel.get()`, `put_for` or `next()`, is
///           rejected at compile time: `select` does exactly one of several, `get_for` waits for some time.
/// Suspends: always.
/// Resumes:  on the awaiter's executor, when the last part has ended. The parts run on that executor, too.
///           A coroutine of another library resumes on the executor that its promise names, or on a thread
///           of this library: see `channel`.
/// Order:    the arguments are posted in their order. Each is started, also if one has ended by then.
/// Stops:    the others are stopped as functions of a stopped stage are: sleeps, waits for channels, Asio's
///           operations, and receives and probes of MPI end at once by throwing `stopped`, which unwinds the
///           coroutine. Senders are requested to stop. Other waits are not cut short. A stop of the stage in
///           which `when_any` is awaited, its time limit, or an outer `when_any` stops all arguments.
/// Errors:   the exception of the first to end, when all have ended; the results of the others are dropped
///           then. Exceptions of the others are always dropped. `std::logic_error`: by the call, for a task
///           that was awaited before or is empty; by a second await.
/// Lifetime: arguments are moved in. An argument that can't be moved is kept by reference: await in the same
///           expression. An awaitable whose result is a reference must be a task or an lvalue.
/// Cost:     one allocation for each part, and one for the stop request.
template <awaitable... As>
    requires(sizeof...(As) != 0)
[[nodiscard("co_await this, or nothing of it runs")]] auto when_any(As&&... parts) {
    return detail::when_any_tuple<As...>(std::forward<As>(parts)...);
}

/// The same as `when_any` above, for any number of awaitables of one type.
/// \returns  awaitable of a `when_any_result`, which is a `std::pair` of the index of the first to end and
///           its result; `others` is a vector. For void results, awaitable of that index, a `std::size_t`.
/// Errors:   `std::invalid_argument`, by the call, for an empty vector.
template <awaitable A>
[[nodiscard("co_await this, or nothing of it runs")]] auto when_any(std::vector<A>&& parts) {
    return detail::when_any_vector<A>(std::move(parts));
}

/// The same as `when_any` of a vector, with copies of the awaitables.
template <detail::copyable_awaitables V>
[[nodiscard("co_await this, or nothing of it runs")]] auto when_any(const V& parts) {
    return detail::when_any_vector<typename V::value_type>(V(parts));
}

/// Rejects other arguments, and a call without arguments, at compile time.
template <class... As>
    requires(sizeof...(As) == 0 ||
             (!(awaitable<As> && ...) && !(detail::copyable_awaitables<std::remove_cvref_t<As>> && ...)))
auto when_any(As&&...) {
    static_assert(sizeof...(As) != 0,
                  "weir: when_any of nothing would never end; give it one awaitable at least");
    static_assert(
        (awaitable<As> && ...),
        "weir: when_any needs awaitables, or a vector of them; an argument is none. If it is a "
        "coroutine function, call it; if it is a task with a name, or a vector of tasks, it gives its "
        "results away: when_any(std::move(it))");
    return std::suspend_never();
}

}  // namespace weir

// For `auto [index, value] = co_await when_any(vector)`.
template <class First, class Second, class Others>
struct std::tuple_size<weir::when_any_result<std::pair<First, Second>, Others>>
    : std::integral_constant<std::size_t, 2> {};
template <std::size_t Index, class First, class Second, class Others>
struct std::tuple_element<Index, weir::when_any_result<std::pair<First, Second>, Others>>
    : std::tuple_element<Index, std::pair<First, Second>> {};

#endif
