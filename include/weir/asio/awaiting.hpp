// weir asio: completion tokens that make any operation of Asio awaitable, without and with a stop token
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_AWAITING_HPP
#define WEIR_ASIO_AWAITING_HPP

#include <weir/asio/io_executor.hpp>
#include <weir/asio/pending.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>     // for std::coroutine_handle
#include <cstdint>       // for std::int64_t
#include <memory>        // for std::make_shared
#include <optional>      // for std::optional
#include <system_error>  // for std::system_error
#include <tuple>         // for std::tuple
#include <type_traits>   // for std::decay_t
#include <utility>       // for std::forward, std::move

namespace weir::asio::inline WEIR_ASIO_KIND {

namespace detail {

// The awaitable of an operation of Asio: starts the operation when awaited.
//
// `HasToken`: the user has given a stop token, so an operation that can't be cancelled is rejected at compile
// time. `Values`: the tuple of what the completion handler gets. `AsTuple`: `co_await` returns `Values` as
// they are. `Initiation`: the function object by which Asio starts the operation, with `InitArgs`.
template <bool HasToken, class Values, bool AsTuple, class Initiation, class... InitArgs>
class [[nodiscard("co_await this, or the operation doesn't begin")]] operation {
  public:
    template <class Init, class... Args>
    explicit operation(stop_token stop, Init&& initiation, Args&&... args)
        : stop_(std::move(stop)), initiation_(std::forward<Init>(initiation)),
          args_(std::forward<Args>(args)...) {}
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;

    ~operation() {
        forget_stops();
        if (state_) state_->leave();
    }

    bool await_ready() const noexcept { return false; }

    // Resumes on the coroutine's executor. The operation's handler posts the coroutine, on the thread on
    // which Asio calls the handler; if the handler was called before the suspension, the coroutine continues
    // at once.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        static_assert(!HasToken || tells_executor<Initiation>,
                      "weir: this operation of Asio doesn't tell its executor, on which it would be "
                      "cancelled: its initiation has no get_executor(). Await it with weir::asio::awaiting, "
                      "without a stop token, or give the initiation that function");
        const weir::detail::coroutine_env env = weir::detail::env_of(h);
        executor& ex = weir::detail::executor_of(env);
        if constexpr (tells_executor<Initiation>) {
            if (env.ends != nullptr || stop_.stop_possible()) {
                using state = stoppable_of<Initiation, Values>;
                const auto s = std::make_shared<state>(initiation_.get_executor(), ex, env.measured, h);
                begin(s, stoppable_handler<state>(s));
                if (stop_.stop_possible()) on_stop_.emplace(stop_, stop_request(s));
                ends_ = env.ends;
                if (ends_ != nullptr && *ends_->stop != stop_) on_end_.emplace(*ends_->stop, stop_request(s));
                return state_->wait();
            }
        }
        const auto s = std::make_shared<pending<Values>>(ex, env.measured, h);
        begin(s, handler<pending<Values>>(s));
        return state_->wait();
    }

    auto await_resume() {
        forget_stops();
        if (state_->error) std::rethrow_exception(state_->error);
        if (ends_ != nullptr && ends_->stop->stop_requested() && !stop_.stop_requested() &&
            (!state_->values || detail::was_aborted(*state_->values))) {
            throw stopped();
        }
        if (!state_->values) throw std::system_error(operation_aborted());
        if constexpr (AsTuple) {
            return std::move(*state_->values);
        } else {
            return detail::without_error(std::move(*state_->values));
        }
    }

    // For the times of a stage's slot (worker): when the operation had ended, in ns; 0: unknown.
    std::int64_t ready_at() const noexcept { return state_->ready_at(); }

  private:
    // Starts the operation, which calls `then` when it has ended.
    template <class Handler>
    void begin(std::shared_ptr<pending<Values>> state, Handler then) {
        state_ = std::move(state);
        try {
            std::apply(
                [&](InitArgs&... args) { std::move(initiation_)(std::move(then), std::move(args)...); },
                args_);
        } catch (...) {
            state_->leave();
            throw;
        }
    }

    // Unregisters the stop callbacks. If another thread is running one of them now, waits until it returns.
    void forget_stops() noexcept {
        on_stop_.reset();
        on_end_.reset();
    }

    stop_token stop_;  // the user's; without one, never stopped
    Initiation initiation_;
    std::tuple<InitArgs...> args_;
    const weir::detail::end_token* ends_ = nullptr;  // null: no run, time limit or `when_any` ends the wait
    std::shared_ptr<pending<Values>> state_;
    std::optional<stop_callback<stop_request>> on_stop_;  // for a stop of `stop_`
    std::optional<stop_callback<stop_request>> on_end_;   // for a stop of `ends_`
};

}  // namespace detail

/// Makes an operation of Asio awaitable, in any coroutine whose promise has no `await_transform` against it:
///
///     const std::size_t n = co_await socket.async_read_some(buffer, weir::asio::awaiting);
///     const auto [error, n] = co_await socket.async_read_some(buffer, weir::asio::awaiting.as_tuple());
///
/// \returns  awaitable of the operation's results without the leading error: void, one value, or a tuple.
///           Move-only values are moved.
/// Suspends: until the operation has ended. The `co_await` starts the operation.
/// Resumes:  on the coroutine's own executor, whichever thread runs the `io_context`; a coroutine of another
///           library, without an executor, on the thread that weir has for all such coroutines.
/// Errors:   `std::system_error` with the operation's error code, unchanged: compare the code with Asio's
///           names (`asio::error::eof`). With `as_tuple()` the code is the tuple's first element instead. If
///           the operation is dropped before it has ended, as by the destructor of its `io_context`, the
///           await throws `std::system_error` with `operation_aborted`; after a stop, `stopped`: see Stops.
///           This holds with `as_tuple()`, too. Also the exceptions of the function that starts the
///           operation.
/// Lifetime: as for any other completion token, the I/O object and the buffers outlive the operation. If a
///           waiting coroutine is destroyed, its result is dropped, and the operation goes on. If the buffers
///           lie in the frame, close the I/O object first, on the thread that runs the `io_context`. The
///           context outlives waits that a stop can end: those in pipelines' functions and in `when_any`,
///           and those of `awaiting_unless`.
/// Threads:  the operation starts on the coroutine's thread. As always in Asio, only one thread at a time may
///           use an I/O object.
/// Stops:    in a pipeline's function, a stop of its run; the stage's time limit; and a `when_any` cancel the
///           operation, if it can be cancelled. If the operation then ends with `operation_aborted`, the
///           await throws `stopped`, with `as_tuple()`, too, and partial results are dropped. To get partial
///           results, use `awaiting_unless(call.stop()).as_tuple()`, where `call` is the `invocation` that
///           the stage's function receives. An operation whose initiation has no `get_executor()` can't be
///           cancelled.
/// Watchdog: while the operation is pending, no `watchdog` reports a deadlock, as for an `external_wait`. Do
///           not use on virtual time, which doesn't wait for sockets.
/// Cost:     two allocations, Asio's and one of some 180 bytes; in a stage or a `when_any` a strand, too, if
///           the operation can be cancelled.
/// Needs Asio 1.19, or Boost 1.77.
template <bool AsTuple>
class basic_awaiting {
  public:
    constexpr basic_awaiting() noexcept = default;

    /// The same token; the result is a tuple whose first element is the error code.
    [[nodiscard]] constexpr basic_awaiting<true> as_tuple() const noexcept { return {}; }
};

/// The completion token to pass to an operation.
inline constexpr basic_awaiting<false> awaiting;

}  // namespace weir::asio::inline WEIR_ASIO_KIND

template <bool AsTuple, class R, class... As>
class WEIR_ASIO_LIBRARY::async_result<weir::asio::basic_awaiting<AsTuple>, R(As...)> {
  public:
    template <class Initiation, class... InitArgs>
    static auto initiate(Initiation&& initiation, weir::asio::basic_awaiting<AsTuple>, InitArgs&&... args) {
        using namespace weir::asio::detail;
        return operation<false, std::tuple<std::decay_t<As>...>, AsTuple, std::decay_t<Initiation>,
                         std::decay_t<InitArgs>...>(weir::stop_token(), std::forward<Initiation>(initiation),
                                                    std::forward<InitArgs>(args)...);
    }
};

namespace weir::asio::inline WEIR_ASIO_KIND {

/// The type of `awaiting_unless(stop)`.
template <bool AsTuple>
class basic_awaiting_unless {
  public:
    /// If a stop was requested before the operation begins, the operation is cancelled when it has begun.
    explicit basic_awaiting_unless(stop_token stop) noexcept : stop_(std::move(stop)) {}

    /// The same token; the result is a tuple whose first element is the error code.
    [[nodiscard]] basic_awaiting_unless<true> as_tuple() const noexcept {
        return basic_awaiting_unless<true>(stop_);
    }

    /// The token that cancels the operation.
    [[nodiscard]] const stop_token& stop() const noexcept { return stop_; }

  private:
    stop_token stop_;
};

/// Makes an operation of Asio awaitable, as `awaiting` does, and cancels the operation when a stop is
/// requested. A cancelled operation ends as Asio specifies, usually with the error `operation_aborted`. An
/// operation that ends before the request reaches it returns its result.
///
///     co_await socket.async_connect(where, weir::asio::awaiting_unless(call.stop()));
///
/// Threads: any thread may request the stop. The operation's handlers run in a strand of their own, so
///          several threads may run the `io_context`.
/// Errors:  `std::terminate` if there is no memory to pass on the stop.
[[nodiscard]] inline basic_awaiting_unless<false> awaiting_unless(stop_token stop) noexcept {
    return basic_awaiting_unless<false>(std::move(stop));
}

}  // namespace weir::asio::inline WEIR_ASIO_KIND

template <bool AsTuple, class R, class... As>
class WEIR_ASIO_LIBRARY::async_result<weir::asio::basic_awaiting_unless<AsTuple>, R(As...)> {
  public:
    template <class Initiation, class... InitArgs>
    static auto initiate(Initiation&& initiation, weir::asio::basic_awaiting_unless<AsTuple> token,
                         InitArgs&&... args) {
        using namespace weir::asio::detail;
        return operation<true, std::tuple<std::decay_t<As>...>, AsTuple, std::decay_t<Initiation>,
                         std::decay_t<InitArgs>...>(token.stop(), std::forward<Initiation>(initiation),
                                                    std::forward<InitArgs>(args)...);
    }
};

#endif
