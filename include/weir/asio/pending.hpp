// weir asio, internal: the state of an operation of Asio that a coroutine awaits, and its completion handler
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_PENDING_HPP
#define WEIR_ASIO_PENDING_HPP

#include <weir/asio/io_executor.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/task/external_wait.hpp>

#include <concepts>      // for std::convertible_to
#include <coroutine>     // for std::coroutine_handle
#include <exception>     // for std::exception_ptr
#include <memory>        // for std::enable_shared_from_this, std::shared_ptr
#include <optional>      // for std::optional
#include <system_error>  // for std::system_error
#include <tuple>         // for std::tuple
#include <type_traits>   // for std::decay_t, std::is_same_v
#include <utility>       // for std::move

namespace weir::asio::inline WEIR_ASIO_KIND::detail {

using weir::detail::slot;

// The state of one operation. Owned by the waiting coroutine, Asio's completion handler and the stop
// callbacks, because the handler uses the state even if the coroutine was destroyed.
class pending_base : public weir::detail::async_completion,
                     public std::enable_shared_from_this<pending_base> {
  public:
    using async_completion::async_completion;
    virtual ~pending_base() = default;

    // Requests the operation to end, if it can be cancelled. Called after the operation has begun: earlier
    // requests have no effect.
    virtual void cancel() {}
};

template <class Values>
class pending : public pending_base {
  public:
    using pending_base::pending_base;

    // What Asio has passed to the handler; none: the operation was dropped.
    std::optional<Values> values;
    std::exception_ptr error;  // thrown while the handler stored the values; or null
};

// The completion handler, which Asio calls once. If the handler is destroyed without a call, as by the
// destructor of its `io_context`, the coroutine resumes without values.
template <class State>
class handler {
  public:
    explicit handler(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
    handler(handler&&) noexcept = default;
    handler& operator=(handler&&) = delete;
    ~handler() {
        if (state_) state_->answer();
    }

    template <class... As>
    void operator()(As&&... as) {
        const std::shared_ptr<State> state = std::move(state_);
        try {
            state->values.emplace(std::forward<As>(as)...);
        } catch (...) {
            state->error = std::current_exception();
        }
        state->answer();
    }

  private:
    std::shared_ptr<State> state_;
};

template <class T>
concept error_code = requires(const T& e) {
    e.category();
    { e } -> std::convertible_to<std::error_code>;
};

// The result of `co_await`: the values behind the leading errors; a tuple if there are several values,
// nothing if there is none. Throws the first error that is set; an error code as `std::system_error`.
template <class... Ts>
auto without_error(std::tuple<Ts...>&& values) {
    if constexpr (sizeof...(Ts) == 1) {
        return std::get<0>(std::move(values));
    } else if constexpr (sizeof...(Ts) > 1) {
        return std::move(values);
    }
}
template <class First, class... Rest>
    requires error_code<First> || std::is_same_v<First, std::exception_ptr>
auto without_error(std::tuple<First, Rest...>&& values) {
    const First& first = std::get<0>(values);
    if constexpr (error_code<First>) {
        if (first) throw std::system_error(static_cast<std::error_code>(first));
    } else {
        if (first) std::rethrow_exception(first);
    }
    return std::apply(
        [](First&, Rest&... rest) { return detail::without_error(std::tuple<Rest...>(std::move(rest)...)); },
        values);
}

inline std::error_code operation_aborted() { return make_error_code(lib::error::operation_aborted); }

// Whether an operation ended with the error of a cancelled one, `operation_aborted`.
inline bool was_aborted(std::exception_ptr e) noexcept {
    if (!e) return false;
    try {
        std::rethrow_exception(std::move(e));
    } catch (const lib::system_error& failed) {
        return static_cast<std::error_code>(failed.code()) == operation_aborted();
    } catch (...) {
        return false;
    }
}
template <class... Ts>
bool was_aborted(const std::tuple<Ts...>&) noexcept {
    return false;
}
template <error_code First, class... Rest>
bool was_aborted(const std::tuple<First, Rest...>& values) {
    return static_cast<std::error_code>(std::get<0>(values)) == operation_aborted();
}
template <class... Rest>
bool was_aborted(const std::tuple<std::exception_ptr, Rest...>& values) noexcept {
    return detail::was_aborted(std::get<0>(values));
}

}  // namespace weir::asio::inline WEIR_ASIO_KIND::detail

// Asio has members of the name `emit`, which is a macro of Qt.
#pragma push_macro("emit")
#undef emit

namespace weir::asio::inline WEIR_ASIO_KIND::detail {

// Whether the object that starts the operation returns, by `get_executor`, the executor of the I/O object.
template <class Initiation>
concept tells_executor = requires(const Initiation& i) { i.get_executor(); };

// An operation that can be cancelled. Only one thread at a time may use a cancellation signal of Asio, or run
// handlers of the operation that the signal cancels. So these handlers run in a strand, and the signal is
// emitted in this strand.
template <class Values, class Executor>
class stoppable final : public pending<Values> {
  public:
    // `measured`: the slot (worker of a stage) whose function waits; null: none.
    stoppable(const Executor& on, executor& ex, slot* measured, std::coroutine_handle<> h)
        : pending<Values>(ex, measured, h), strand(on) {}

    // Emits the signal only while the operation is pending: afterwards its cancellation handler may be gone.
    void cancel() override {
        lib::post(strand, [this, owned = this->shared_from_this()] {
            if (this->is_waited_for()) signal.emit(lib::cancellation_type::all);
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
    explicit stoppable_handler(const std::shared_ptr<State>& state)
        : handler<State>(state), strand_(state->strand), slot_(state->signal.slot()) {}

    using executor_type = decltype(State::strand);  // Asio looks for this name in a handler
    executor_type get_executor() const noexcept { return strand_; }

    // Asio looks for this name, too: to let the signal reach the operation.
    using cancellation_slot_type = lib::cancellation_slot;
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

  private:
    executor_type strand_;
    cancellation_slot_type slot_;
};

// The function that a stop token calls: cancels the operation.
class stop_request {
  public:
    explicit stop_request(std::shared_ptr<pending_base> state) noexcept : state_(std::move(state)) {}
    void operator()() const { state_->cancel(); }

  private:
    std::shared_ptr<pending_base> state_;
};

}  // namespace weir::asio::inline WEIR_ASIO_KIND::detail

#pragma pop_macro("emit")

#endif
