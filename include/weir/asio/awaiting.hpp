// weir asio: a completion token that makes any operation of Asio awaitable
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_AWAITING_HPP
#define WEIR_ASIO_AWAITING_HPP

#include <weir/asio/library.hpp>
#include <weir/asio/pending.hpp>
#include <weir/asio/stoppable.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/platform/env.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>     // for std::coroutine_handle
#include <cstdint>       // for std::int64_t
#include <optional>      // for std::optional
#include <system_error>  // for std::system_error
#include <tuple>         // for std::tuple
#include <type_traits>   // for std::decay_t
#include <utility>       // for std::forward, std::move

namespace weir::asio::inline WEIR_ASIO_KIND {

namespace detail {

// `HasToken`: `stop` is the user's, who relies on it.
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

    // Resumes on the coroutine's executor, posted by the handler of the operation, on whichever thread Asio
    // calls that.
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
                const shared<state> s(new state(initiation_.get_executor(), ex, env.measured, h));
                begin(s, stoppable_handler<state>(s));
                if (stop_.stop_possible()) on_stop_.emplace(stop_, stop_request(s));
                ends_ = env.ends;
                if (ends_ != nullptr && *ends_->stop != stop_) on_end_.emplace(*ends_->stop, stop_request(s));
                return state_->wait();
            }
        }
        const shared<pending<Values>> s(new pending<Values>(ex, env.measured, h));
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

    std::int64_t ready_at() const noexcept { return state_->ready_at(); }

  private:
    template <class Handler>
    void begin(shared<pending<Values>> state, Handler then) {
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

    // Waits for a request that is being made right now.
    void forget_stops() noexcept {
        on_stop_.reset();
        on_end_.reset();
    }

    stop_token stop_;
    Initiation initiation_;
    std::tuple<InitArgs...> args_;
    const weir::detail::end_token* ends_ = nullptr;
    shared<pending<Values>> state_;
    std::optional<stop_callback<stop_request>> on_stop_;
    std::optional<stop_callback<stop_request>> on_end_;
};

}  // namespace detail

/// Makes an operation of Asio awaitable, in any coroutine whose promise doesn't forbid it:
///
///     const std::size_t n = co_await socket.async_read_some(buffer, weir::asio::awaiting);
///     const auto [error, n] = co_await socket.async_read_some(buffer, weir::asio::awaiting.as_tuple());
///
/// \returns  awaitable of what the operation gives, without the error that it gives first: of nothing, of
///           a value, or of a tuple of several. Values that only move are moved.
/// Suspends: while the operation is under way, which begins when it is awaited.
/// Resumes:  on the coroutine's own executor, whichever thread runs the `io_context`; one of another library
///           that runs on none where a `channel` would resume it.
/// Errors:   `std::system_error` with the operation's error code, as Asio has it: compare it with Asio's
///           names (`asio::error::eof`). With `as_tuple()` that is the tuple's first element instead.
///           `operation_aborted`, in both, of an operation that is dropped without an end, as by the
///           destructor of its `io_context`. What starting the operation throws.
/// Lifetime: as for any other token: the I/O object and the buffers live until the operation has ended. A
///           coroutine that is destroyed while it waits only drops the result; close the I/O object first
///           if the buffers go with the frame, and on the thread that runs the `io_context`.
/// Threads:  an I/O object that several coroutines use is for one thread at a time, as ever; starting an
///           operation on it happens on the coroutine's.
/// Stops:    a stop of the run in whose stage it is awaited cancels it, where the operation can be: it then
///           throws `stopped`, with `as_tuple()`, too. What was done by then is dropped: to have that, await
///           it with `awaiting_unless(call.stop())`. An operation that tells no executor (its initiation has
///           no `get_executor()`) can't be cancelled.
/// Watchdog: it counts as an `external_wait`. On virtual time nothing waits for sockets: not there.
/// Cost:     two allocations, Asio's and one of some 150 bytes; in a stage a strand, too.
/// Needs Asio 1.19, or Boost 1.77.
template <bool AsTuple>
class basic_awaiting {
  public:
    constexpr basic_awaiting() noexcept = default;

    /// The same, with the error code as the first element of a tuple.
    [[nodiscard]] constexpr basic_awaiting<true> as_tuple() const noexcept { return {}; }
};

/// The token to give to an operation.
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

#endif
