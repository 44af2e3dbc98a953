// weir floor 7: the same for operations that a stop token cancels
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_AWAITING_UNLESS_HPP
#define WEIR_ASIO_AWAITING_UNLESS_HPP

#include <weir/asio/awaiting.hpp>
#include <weir/asio/library.hpp>
#include <weir/asio/pending.hpp>
#include <weir/stop_token.hpp>

#include WEIR_ASIO_FILE(cancellation_signal.hpp)
#include WEIR_ASIO_FILE(post.hpp)
#include WEIR_ASIO_FILE(strand.hpp)

#include <optional>     // for std::optional
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::decay_t
#include <utility>      // for std::forward, std::move

namespace weir::asio::inline WEIR_ASIO_KIND {

namespace detail {

template <class Initiation>
concept tells_executor = requires(const Initiation& i) { i.get_executor(); };

template <class Initiation>
struct executor_of {
    using type = lib::system_executor;  // asked for, but never used
};
template <tells_executor Initiation>
struct executor_of<Initiation> {
    using type = std::decay_t<decltype(std::declval<const Initiation&>().get_executor())>;
};

// A signal of Asio is for one thread at a time, together with all handlers of the operation that listens
// to it. So those run in a strand, and the signal is sent from there.
template <class Values, class Executor>
class stoppable final : public pending<Values> {
  public:
    stoppable(const Executor& ex, executor& home, slot* measured, std::coroutine_handle<> h)
        : pending<Values>(home, measured, h), strand(ex) {}

    lib::strand<Executor> strand;
    lib::cancellation_signal signal;
};

template <class State>
class stoppable_handler : public handler<State> {
  public:
    explicit stoppable_handler(const shared<State>& state)
        : handler<State>(state), strand_(state->strand), slot_(state->signal.slot()) {}

    using executor_type = decltype(State::strand);
    executor_type get_executor() const noexcept { return strand_; }

    using cancellation_slot_type = lib::cancellation_slot;
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

  private:
    executor_type strand_;
    cancellation_slot_type slot_;
};

template <class State>
class stop_request {
  public:
    explicit stop_request(const shared<State>& state) noexcept : state_(state) {}

    // What has ended may have taken with it what the signal would reach.
    void operator()() const {
        lib::post(state_->strand, [state = state_] {
            if (state->is_waited_for()) state->signal.emit(lib::cancellation_type::all);
        });
    }

  private:
    shared<State> state_;
};

template <class Values, class Initiation>
class until_stopped {
    using io_executor = typename executor_of<Initiation>::type;

  public:
    using state = stoppable<Values, io_executor>;

    explicit until_stopped(stop_token stop) noexcept : stop_(std::move(stop)) {}

    shared<state> begin(const Initiation& initiation, executor& home, slot* measured,
                        std::coroutine_handle<> h) const {
        static_assert(tells_executor<Initiation>,
                      "weir: this operation of Asio doesn't tell its executor, on which it would be "
                      "cancelled: its initiation has no get_executor(). Await it with weir::asio::awaiting, "
                      "without a stop token, or give the initiation that function");
        return shared<state>(new state(initiation.get_executor(), home, measured, h));
    }
    static stoppable_handler<state> handler_of(const shared<state>& s) { return stoppable_handler<state>(s); }

    // Once the operation has begun: before, there is nothing that would hear the signal.
    void begun(const shared<state>& s) {
        if (stop_.stop_possible()) on_stop_.emplace(stop_, stop_request<state>(s));
    }
    void over() noexcept { on_stop_.reset(); }

  private:
    stop_token stop_;
    std::optional<stop_callback<stop_request<state>>> on_stop_;
};

}  // namespace detail

/// `awaiting` with a stop token: a stop cancels the operation.
template <bool AsTuple>
class basic_awaiting_unless {
  public:
    /// A stop that was asked for before the operation has begun cancels it as soon as it has.
    explicit basic_awaiting_unless(stop_token stop) noexcept : stop_(std::move(stop)) {}

    /// The same, with the error code as the first element of a tuple.
    [[nodiscard]] basic_awaiting_unless<true> as_tuple() const noexcept {
        return basic_awaiting_unless<true>(stop_);
    }

    /// What cancels the operation.
    [[nodiscard]] const stop_token& stop() const noexcept { return stop_; }

  private:
    stop_token stop_;
};

/// Makes an operation of Asio awaitable, as `awaiting` does, and cancels it when a stop is asked for: it
/// then ends as Asio has it, as a rule with the error `operation_aborted`. What was already done is not
/// lost: an operation that ends before the request reaches it gives its result.
///
///     co_await socket.async_connect(where, weir::asio::awaiting_unless(call.stop()));
///
/// Threads: the stop may be asked for on any. The operation's handlers run in a strand of their own, so
///          also an `io_context` that many threads run is safe.
/// Errors:  no memory to pass on a stop: std::terminate.
/// Needs Asio 1.19, or Boost 1.77.
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
        using ending = until_stopped<std::tuple<std::decay_t<As>...>, std::decay_t<Initiation>>;
        return operation<ending, AsTuple, std::decay_t<Initiation>, std::decay_t<InitArgs>...>(
            token.stop(), std::forward<Initiation>(initiation), std::forward<InitArgs>(args)...);
    }
};

#endif
