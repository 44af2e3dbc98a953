// weir task: awaits the first of many to end, and has the others end
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_WHEN_ANY_HPP
#define WEIR_TASK_WHEN_ANY_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/foreign_executor.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/when_all.hpp>

#include <coroutine>    // for std::coroutine_handle, std::suspend_never
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::is_move_constructible_v
#include <utility>      // for std::forward, std::index_sequence, std::pair
#include <variant>      // for std::variant
#include <vector>       // for std::vector

namespace weir {

namespace detail {

// Starts the parts, has the others stop when the first has ended, and wakes the awaiting coroutine when all
// have.
class when_any_join {
  public:
    explicit when_any_join(std::size_t parts) noexcept : left_(parts + 1) {}
    when_any_join(const when_any_join&) = delete;
    when_any_join& operator=(const when_any_join&) = delete;

    // The awaiter is resumed on its executor, by the part that ends last. False: all have ended.
    // `start(ex, ends)` posts all of them.
    template <class Promise, class Start>
    bool start(std::coroutine_handle<Promise> awaiter, Start start_parts) {
        const coroutine_env env = detail::env_of(awaiter);
        executor& ex = detail::executor_of(env);
        awaiter_ = awaiter;
        executor_ = &ex;
        measured_ = env.measured;
        if (env.ends != nullptr) {
            ends_.within = env.ends;
            on_end_.emplace(*env.ends->stop, stop_parts{&stop_});
        }
        start_parts(ex, ends_);
        return !is_last();
    }

    void ended(std::size_t part) noexcept {
        // relaxed: read when all have ended, which is_last() orders
        if (!has_first_.exchange(true, std::memory_order_relaxed)) {
            first_ = part;
            stop_.request_stop();
        }
        if (measured_ != nullptr) ready_.store(clock_of(*measured_), std::memory_order_relaxed);
        if (is_last()) executor_->post(awaiter_);  // the join may be gone from here on
    }

    // After all have ended.
    std::size_t first() noexcept {
        on_end_.reset();  // waits for a callback that runs right now
        return first_;
    }
    std::int64_t ready_at() const noexcept { return ready_.load(std::memory_order_relaxed); }

  private:
    struct stop_parts {
        const stop_source* parts;
        void operator()() const noexcept { parts->request_stop(); }
    };

    // acq_rel; pairs with itself: who is the last sees all that the others did
    bool is_last() noexcept { return left_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

    template <class T>
    using atomic = standard_platform::atomic<T>;
    atomic<std::size_t> left_;  // parts, and who starts them
    atomic<bool> has_first_{false};
    std::size_t first_ = 0;
    const stop_source stop_;
    const stop_token token_{stop_.get_token()};
    end_token ends_{&token_};
    std::coroutine_handle<> awaiter_;
    executor* executor_ = nullptr;
    slot* measured_ = nullptr;
    atomic<std::int64_t> ready_{0};
    std::optional<stop_callback<stop_parts>> on_end_;
};

// One of the awaitables, in a coroutine around it. What can't be moved into it stays where it is.
template <class A>
class when_any_part final : detached_task_owner {
    static_assert(
        std::is_reference_v<A> || is_task<A> || !std::is_lvalue_reference_v<await_result_t<A>>,
        "weir: when_any would give a reference that may be into an awaitable that is gone by then: "
        "give the awaitable a name that outlives the result, and that to when_any; or await it in a "
        "task that gives a value");
    using kept = std::conditional_t<std::is_move_constructible_v<A>, A, A&&>;

  public:
    using value = in_vector<non_void<joined_result_t<A>>>;

    explicit when_any_part(A&& a)
        : awaitable_(std::forward<A>(a)),
          detached_task_(detail::make_detached_task<await_result_t<A>, kept>(awaitable_)) {
        if constexpr (is_task<A>) joining<typename A::value_type>(awaitable_).check();
    }

    void start(when_any_join& join, std::size_t index, executor& ex, const end_token& ends) noexcept {
        join_ = &join;
        index_ = index;
        detached_task_.start(ex, nullptr, *this, &ends);
    }
    void check() const {
        if (join_ != nullptr) detail::refuse_task();
    }
    decltype(auto) take() { return detached_task_.take(); }

  private:
    void ended() noexcept override { join_->ended(index_); }

    kept awaitable_;
    detached_task<await_result_t<A>> detached_task_;
    when_any_join* join_ = nullptr;
    std::size_t index_ = 0;
};

template <class... As>
class when_any_tuple {
    using result = std::variant<typename when_any_part<As>::value...>;
    static constexpr std::index_sequence_for<As...> all{};

  public:
    explicit when_any_tuple(As&&... parts) : parts_(std::forward<As>(parts)...) {}
    when_any_tuple(const when_any_tuple&) = delete;
    when_any_tuple& operator=(const when_any_tuple&) = delete;

    bool await_ready() const {
        std::get<0>(parts_).check();
        return false;
    }
    // Resumes on the awaiter's executor, when the last part has ended.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return join_.start(h, [this](executor& ex, const end_token& ends) {
            std::apply([&, i = std::size_t{0}](
                           auto&... parts) mutable { (parts.start(join_, i++, ex, ends), ...); },
                       parts_);
        });
    }
    std::int64_t ready_at() const noexcept { return join_.ready_at(); }
    result await_resume() { return take(join_.first(), all); }

  private:
    template <std::size_t... I>
    result take(std::size_t first, std::index_sequence<I...>) {
        std::optional<result> r;
        static_cast<void>(
            ((I == first &&
              (r.emplace(std::in_place_index<I>, detail::take_non_void(std::get<I>(parts_))), true)) ||
             ...));
        return *std::move(r);
    }

    when_any_join join_{sizeof...(As)};
    std::tuple<when_any_part<As>...> parts_;
};

template <class A>
class when_any_vector {
    using value = typename when_any_part<A>::value;

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
        parts_.front().check();
        return false;
    }
    // Resumes as above.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return join_.start(h, [this](executor& ex, const end_token& ends) {
            for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].start(join_, i, ex, ends);
        });
    }
    std::int64_t ready_at() const noexcept { return join_.ready_at(); }
    auto await_resume() {
        const std::size_t first = join_.first();
        if constexpr (std::is_void_v<await_result_t<A>>) {
            parts_[first].take();
            return first;
        } else {
            return std::pair<std::size_t, value>(first, parts_[first].take());
        }
    }

  private:
    when_any_join join_;
    std::vector<when_any_part<A>> parts_;
};

}  // namespace detail

/// Runs all of its arguments until the first has ended, has the others stop, and waits until they have ended,
/// too: none of them outlives the await.
///
/// \returns  awaitable of a `std::variant` of the results, in the order of the arguments: `index()` says
///           which was the first to end (`std::monostate` for void; `std::reference_wrapper` for a
///           reference).
/// Suspends: always.
/// Resumes:  on the awaiter's executor, when the last has ended; one of another library that runs on none
///           where a `channel` would resume it, and there the parts run, too.
/// Order:    they are posted in the order of the arguments. Each is started, also if one has ended by then.
/// Errors:   of the first to end, when all have. What the others throw is dropped, and so are their results.
///           They are told to stop as a stage's function is whose run is stopped: what they await of sleeps,
///           channels and, by our adapter, Asio ends at once by `stopped`, which unwinds them; who awaits
///           none of these is waited for. Where the run is stopped in whose stage all this is awaited,
///           all of them are told so, too. `std::logic_error` for a task with nothing to await, at once, and
///           from a second await.
/// Lifetime: as of `when_all`.
/// Cost:     one allocation for each part, and one.
template <awaitable... As>
    requires(sizeof...(As) != 0)
[[nodiscard("co_await this, or nothing of it runs")]] auto when_any(As&&... parts) {
    return detail::when_any_tuple<As...>(std::forward<As>(parts)...);
}

/// The same for any number of awaitables of one type.
/// \returns  awaitable of a `std::pair` of the index of the first to end and its result; where there is none,
///           of the index alone, a `std::size_t`.
/// Errors:   `std::invalid_argument` for an empty vector, at once.
template <awaitable A>
[[nodiscard("co_await this, or nothing of it runs")]] auto when_any(std::vector<A>&& parts) {
    return detail::when_any_vector<A>(std::move(parts));
}

/// The same with copies of them.
template <detail::copyable_awaitables V>
[[nodiscard("co_await this, or nothing of it runs")]] auto when_any(const V& parts) {
    return detail::when_any_vector<typename V::value_type>(V(parts));
}

/// Rejects what is not an awaitable, and nothing at all, at compile time.
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

#endif
