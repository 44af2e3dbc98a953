// weir floor 6: a completion token that makes any operation of Asio awaitable
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_AWAITING_HPP
#define WEIR_ASIO_AWAITING_HPP

#include <weir/asio/library.hpp>
#include <weir/asio/pending.hpp>
#include <weir/detail/env.hpp>
#include <weir/sleep.hpp>

#include WEIR_ASIO_FILE(async_result.hpp)

#include <coroutine>     // for std::coroutine_handle
#include <cstdint>       // for std::int64_t
#include <system_error>  // for std::system_error
#include <tuple>         // for std::tuple
#include <type_traits>   // for std::decay_t
#include <utility>       // for std::forward, std::move

namespace weir::asio::inline WEIR_ASIO_KIND {

namespace detail {

// How an operation ends that nobody asks to.
template <class Values>
class at_its_end {
  public:
    using state = pending<Values>;

    template <class Initiation>
    shared<state> begin(const Initiation&, executor& home, slot* measured, std::coroutine_handle<> h) const {
        return shared<state>(new state(home, measured, h));
    }
    static handler<state> handler_of(const shared<state>& s) { return handler<state>(s); }
    void begun(const shared<state>&) const noexcept {}
    void over() const noexcept {}
};

template <class Ending, bool AsTuple, class Initiation, class... InitArgs>
class [[nodiscard("co_await this, or the operation doesn't begin")]] operation {
    using state = typename Ending::state;

  public:
    template <class E, class I, class... Is>
    explicit operation(E&& ending, I&& initiation, Is&&... args)
        : ending_(std::forward<E>(ending)), initiation_(std::forward<I>(initiation)),
          args_(std::forward<Is>(args)...) {}
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;

    ~operation() {
        ending_.over();
        if (state_) state_->leave();
    }

    bool await_ready() const noexcept { return false; }

    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        const weir::detail::coroutine_env env = weir::detail::env_of(h);
        executor& home = weir::detail::home_of(env, "an operation of Asio");
        state_ = ending_.begin(initiation_, home, env.measured, h);
        auto then = Ending::handler_of(state_);
        try {
            std::apply(
                [&](InitArgs&... args) { std::move(initiation_)(std::move(then), std::move(args)...); },
                args_);
        } catch (...) {
            state_->leave();
            throw;
        }
        ending_.begun(state_);
        return state_->wait();
    }

    auto await_resume() {
        ending_.over();
        if (state_->error) std::rethrow_exception(state_->error);
        if (!state_->values) throw std::system_error(operation_aborted());
        if constexpr (AsTuple) {
            return std::move(*state_->values);
        } else {
            return detail::without_error(std::move(*state_->values));
        }
    }

    std::int64_t ready_at() const noexcept { return state_->ready_at(); }

  private:
    Ending ending_;
    Initiation initiation_;
    std::tuple<InitArgs...> args_;
    shared<state> state_;
};

}  // namespace detail

/// Makes an operation of Asio awaitable, in any coroutine that an executor of this library runs:
///
///     const std::size_t n = co_await socket.async_read_some(buffer, weir::asio::awaiting);
///     const auto [error, n] = co_await socket.async_read_some(buffer, weir::asio::awaiting.as_tuple());
///
/// \returns  awaitable of what the operation gives, without the error that it gives first: of nothing, of
///           a value, or of a tuple of several. Values that only move are moved.
/// Suspends: while the operation is under way, which begins when it is awaited.
/// Resumes:  on the coroutine's own executor, whichever thread runs the `io_context`.
/// Errors:   `std::system_error` with the operation's error code, as Asio has it: compare it with Asio's
///           names (`asio::error::eof`). With `as_tuple()` that is the tuple's first element instead.
///           `operation_aborted`, in both, of an operation that is dropped without an end, as by the
///           destructor of its `io_context`. `std::logic_error` if no executor runs the coroutine. What
///           starting the operation throws.
/// Lifetime: as for any other token: the I/O object and the buffers live until the operation has ended. A
///           coroutine that is destroyed while it waits only drops the result; close the I/O object first
///           if the buffers go with the frame, and on the thread that runs the `io_context`.
/// Threads:  an I/O object that several coroutines use is for one thread at a time, as ever; starting an
///           operation on it happens on the coroutine's.
/// Stops:    not by a stop of the run in whose stage it is awaited: `awaiting_unless(call.stop())` is.
/// Watchdog: it counts as an `external_wait`. On virtual time nothing waits for sockets: not there.
/// Cost:     two allocations, Asio's and one of some 150 bytes.
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
        using ending = at_its_end<std::tuple<std::decay_t<As>...>>;
        return operation<ending, AsTuple, std::decay_t<Initiation>, std::decay_t<InitArgs>...>(
            ending(), std::forward<Initiation>(initiation), std::forward<InitArgs>(args)...);
    }
};

#endif
