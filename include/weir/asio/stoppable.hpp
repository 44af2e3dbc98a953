// weir asio, internal: an operation of Asio that a stop token cancels
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_STOPPABLE_HPP
#define WEIR_ASIO_STOPPABLE_HPP

#include <weir/asio/library.hpp>
#include <weir/asio/pending.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <type_traits>  // for std::decay_t
#include <utility>      // for std::move

// See asio/library.hpp.
#pragma push_macro("emit")
#undef emit

namespace weir::asio::inline WEIR_ASIO_KIND::detail {

template <class Initiation>
concept tells_executor = requires(const Initiation& i) { i.get_executor(); };

// Only one thread at a time may use a cancellation signal of Asio, or run handlers of the operation that is
// connected to it. So these handlers run in a strand, and the signal is emitted in this strand.
template <class Values, class Executor>
class stoppable final : public pending<Values> {
  public:
    stoppable(const Executor& on, executor& ex, slot* measured, std::coroutine_handle<> h)
        : pending<Values>(ex, measured, h), strand(on) {}

    // Emits the signal only while the operation is pending: afterwards its cancellation handler may be gone.
    void cancel() override {
        lib::post(strand, [state = shared<stoppable>(this)] {
            if (state->is_waited_for()) state->signal.emit(lib::cancellation_type::all);
        });
    }

    lib::strand<Executor> strand;
    lib::cancellation_signal signal;
};

template <class Initiation, class Values>
using stoppable_of =
    stoppable<Values, std::decay_t<decltype(std::declval<const Initiation&>().get_executor())>>;

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

// The stop callback: cancels the operation.
class stop_request {
  public:
    explicit stop_request(shared<pending_base> state) noexcept : state_(std::move(state)) {}
    void operator()() const { state_->cancel(); }

  private:
    shared<pending_base> state_;
};

}  // namespace weir::asio::inline WEIR_ASIO_KIND::detail

#pragma pop_macro("emit")

#endif
