// weir stages: a function that is called again when it fails
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_RETRY_HPP
#define WEIR_STAGES_RETRY_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/slot_loop.hpp>
#include <weir/stages/stage.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/slot_accounting.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::exception_ptr
#include <functional>   // for std::function
#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::move

namespace weir {

/// The options of `retry`.
struct retry_options {
    /// The maximum number of calls for an item, the first one included; at least 1.
    std::size_t attempts = 3;
    /// The wait before the second call, by the clock of the executor that runs the stage.
    duration delay = std::chrono::milliseconds(10);
    /// The factor by which each wait is longer than the previous wait; at least 1.
    double factor = 2.0;
    /// The longest wait, also before the second call.
    duration max_delay = std::chrono::minutes(1);
    /// Called with an exception of the function, except after the last attempt. Returns whether the function
    /// is called again. Null: it is always called again. An exception from `when` itself fails the item.
    /// Threads: the stage's threads, several at once.
    std::function<bool(const std::exception_ptr&)> when = nullptr;
};

/// For `retry_options::when`: `{.when = weir::threw<timed_out>}`.
/// \returns whether the exception is an `Error`, or of a class derived from `Error`. Without an exception:
///          false.
template <class Error>
[[nodiscard]] bool threw(const std::exception_ptr& error) {
    if (!error) return false;
    try {
        std::rethrow_exception(error);
    } catch (const Error&) {
        return true;
    } catch (...) {
        return false;
    }
}

namespace detail {

// The traits of the call of a function to be retried; asserts that it can be called again.
template <class Function>
struct the_retried {
    template <class T>
    struct is_given : call_traits<Function, const T&> {
        // The type of the stored result of a successful call; `bool` if the call returns void.
        using kept_result = std::conditional_t<is_given::is_void, bool, typename is_given::result>;
        static_assert(is_given::fits,
                      "weir: a function to be retried is called with the item as a constant, or with a copy "
                      "of it, as it may need it again, and can't be; the types are those of "
                      "the_retried<...>::is_given<...> in this message");
        static_assert(!is_given::gives_many,
                      "weir: a function that gives a generator can't be retried: what it gave before it "
                      "failed has left already; give a container");
    };
};

// The function object that `retry` returns.
template <class Function>
class retrying {
    template <class T>
    using traits_of = typename the_retried<Function>::template is_given<T>;

  public:
    retrying(Function function, retry_options options)
        : function_(std::move(function)), options_(std::move(options)) {
        refuse_if(options_.attempts == 0,
                  "weir: retry with 0 attempts would never call its function; give it 1 or more");
        refuse_negative(options_.attempts, "weir: the attempts of a retry were negative; give it 1 or more");
        refuse_if(options_.delay < duration(0),
                  "weir: the delay of a retry can't be negative; 0 means that it calls again at once");
        refuse_if(options_.max_delay < duration(0),
                  "weir: the max_delay of a retry can't be negative; 0 means that it calls again at once");
        refuse_if(!is_finite(options_.factor) || options_.factor < 1,
                  "weir: the factor of a retry has to be 1 or more: 2 doubles the delay each time");
    }

    // The stage keeps `item` and `call`, to which the task refers, until the task has ended.
    template <class T>
    task<typename traits_of<T>::result> operator()(const T& item, const invocation& call) {
        std::optional<typename traits_of<T>::kept_result> result;
        duration delay = shorter(options_.delay);
        const coroutine_env* const env = co_await my_env();  // of this coroutine; does not suspend
        slot* const me = env->measured;                      // null: the run does not measure
        std::int64_t began = me == nullptr ? 0 : detail::clock_of(*me);
        for (std::size_t attempt = 1;; ++attempt) {
            std::exception_ptr error;
            try {
                if constexpr (traits_of<T>::waits) {
                    auto pending = detail::call(function_, item, &call);
                    if constexpr (traits_of<T>::is_void) {
                        co_await std::move(pending);
                    } else {
                        auto got = co_await std::move(pending);
                        result.emplace(std::move(got));
                    }
                } else if constexpr (traits_of<T>::is_void) {
                    detail::call(function_, item, &call);
                } else {
                    result.emplace(detail::call(function_, item, &call));
                }
            } catch (const stopped_after_error&) {  // of a retry within the function
                throw;
            } catch (...) {
                error = std::current_exception();
            }
            if (!error) break;
            if (attempt == options_.attempts || !should_retry(error))
                std::rethrow_exception(std::move(error));
            auto pause = sleep_for(delay, call.stop());
            const bool waited = co_await std::move(pause);
            if (!waited || call.stop().stop_requested()) throw stopped_after_error(std::move(error));
            if (me != nullptr) {
                const std::int64_t now = detail::clock_of(*me);
                me->count_retry(time_between(began, now));
                began = now;
            }
            delay = longer(delay);
        }
        if constexpr (!traits_of<T>::is_void) co_return *std::move(result);
    }

  private:
    bool should_retry(const std::exception_ptr& error) const {
        return !options_.when || options_.when(error);
    }
    // Returns `d`, or `max_delay` if that is shorter.
    duration shorter(duration d) const noexcept { return d < options_.max_delay ? d : options_.max_delay; }
    // Returns the wait after a wait of `d`: longer by the factor, but `max_delay` at most.
    duration longer(duration d) const noexcept {
        if (d == duration(0)) return d;
        const auto now = static_cast<double>(d.count());
        const auto most = static_cast<double>(options_.max_delay.count());
        const double next = options_.factor < most / now ? now * options_.factor : most;  // never infinite
        return next < most ? duration(static_cast<duration::rep>(next)) : options_.max_delay;
    }

    Function function_;
    retry_options options_;
};

}  // namespace detail

/// Makes a function that calls `function` again, after a wait, if `function` has thrown. For a `pipe`, a
/// `filter`, a `for_each`, or a `flat_map` of containers:
///
///     weir::pipe(weir::retry(download, {.attempts = 5, .delay = 100ms}), {.concurrency = 16})
///
/// \param function  called with the item as a constant (a parameter by value is a copy), and with the
///                  `invocation` if `function` requires a second argument. Returns a value or an awaitable;
///                  for a `for_each`, also nothing.
///                  A function for each slot: `per_slot([] { return weir::retry(connection()); })`.
/// \param options   see `retry_options`.
/// Suspends: between two calls, and while the result of `function` is awaited. The slot (worker of the stage)
///           takes no other item meanwhile; its state is `slot_times::await`.
/// Resumes:  on the stage's executor.
/// Errors:   the last exception fails the item. Earlier exceptions are dropped, and don't count towards
///           `max_failures`. `std::invalid_argument` for `attempts` of 0, for a `factor` below 1, and for
///           negative numbers.
/// Stops:    at the time limit of the stage, or a stop of the run, the wait ends, and `function` is not
///           called again. At the time limit the item fails with `time_limit_exceeded`, and the last
///           exception is nested. After a stop of the run the item is destroyed, which is no failure.
template <class Function>
[[nodiscard]] auto retry(Function&& function, retry_options options = {}) {
    return detail::retrying<detail::kept_t<Function>>(std::forward<Function>(function), std::move(options));
}

/// Rejects the name of an overloaded function, and options of another type, at compile time.
template <class Function = detail::not_deduced, class Options = retry_options,
          class = detail::refused_t<Function, Options, retry_options>>
void retry(Function&&, Options&& = {}) noexcept;

}  // namespace weir

#endif
