// weir execution: `as_sender`, which makes a sender of a task, or of an operation of a channel or run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_AS_SENDER_HPP
#define WEIR_EXECUTION_AS_SENDER_HPP

#include <weir/execution/scheduler.hpp>
#include <weir/executor/executor.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/task.hpp>

#include <concepts>     // for std::invocable
#include <type_traits>  // for std::is_reference_v
#include <utility>      // for std::move

namespace weir::execution {

namespace detail {

// The sender of an awaitable. `connect` needs an rvalue, because it moves the awaitable.
template <class A>
class [[nodiscard("connect and start this, or nothing of it runs")]] awaitable_sender {
  public:
    using sender_concept = lib::sender_t;
    using completion_signatures = typename signatures<A, result_of_t<A>>::type;

    awaitable_sender(A awaited, executor* on) : awaited_(std::move(awaited)), on_(on) {}

    template <class Receiver>
    [[nodiscard]] auto connect(Receiver receiver) && {
        return coroutine_operation<A, Receiver>(std::move(awaited_), on_, std::move(receiver));
    }

  private:
    A awaited_;
    executor* on_;
};

// Calls the function when the sender is started, so that the awaitable that it returns need not be movable.
template <class Function>
auto await_result_of(Function function) -> task<result_of_t<std::invoke_result_t<Function&>>> {
    co_return co_await function();
}

template <class A>
auto make_sender(A awaited, executor* on) {
    static_assert(
        !std::is_reference_v<result_of_t<A>>,
        "weir: a sender gives values, and awaiting this gives a reference: await it in a weir::task "
        "that returns a pointer, or a copy");
    return awaitable_sender<A>(std::move(awaited), on);
}

template <class Function>
concept gives_awaitable = std::invocable<Function&> && awaitable<std::invoke_result_t<Function&>>;

template <class A>
auto make_sender_of(A&& a, executor* on) {
    using kept = std::remove_cvref_t<A>;
    if constexpr (awaitable<kept> && std::is_move_constructible_v<kept> && std::constructible_from<kept, A>) {
        return detail::make_sender<kept>(std::forward<A>(a), on);
    } else if constexpr (gives_awaitable<kept>) {
        return detail::make_sender(detail::await_result_of<kept>(std::forward<A>(a)), on);
    } else {
        static_assert(
            awaitable<kept> && std::is_move_constructible_v<kept>,
            "weir: as_sender needs what can be awaited and moved, as a task, or a function that gives "
            "what can be awaited: as_sender([&] { return channel.get(); })");
    }
}

}  // namespace detail

/// Makes a sender of an awaitable: of a task or another movable awaitable, or of a function that returns an
/// awaitable. The function is called when the sender is started.
///
///     auto work = weir::execution::as_sender(pool, load(file)) | stdexec::then(show);
///     auto next = weir::execution::as_sender([&] { return run.next(); });
///
/// \returns  a sender that can be connected once, as an rvalue. It completes with the result of `co_await`,
///           or with a `std::exception_ptr`.
/// Threads:  runs and completes on the executor of weir to which the starting thread belongs. If the thread
///           belongs to none, on the thread on which a `channel` would resume a coroutine of another library.
/// Stops:    a stop by the receiver's stop token acts as the stop of a run: a wait for a sleep, a channel or
///           Asio ends, and the sender completes as stopped. If an operation has ended before, such as a get
///           that has an item, the sender completes with its result, also under `stop_when`. A race of
///           several senders (`exec::when_any`) drops the results of the losers: to race operations that move
///           items, use `select` in one sender.
/// Errors:   the exceptions of `co_await`; `forked_error`.
/// Lifetime: the executor, and the objects to which a function refers, outlive the operation.
/// Cost:     one allocation when the sender is connected, in addition to those of the task.
template <class A>
[[nodiscard("connect and start this, or nothing of it runs")]] auto as_sender(A&& awaited) {
    return detail::make_sender_of(std::forward<A>(awaited), nullptr);
}

/// The same on the executor `on`, whichever thread starts the sender.
/// Lifetime: `on` outlives the operation.
template <class A>
[[nodiscard("connect and start this, or nothing of it runs")]] auto as_sender(executor& on, A&& awaited) {
    return detail::make_sender_of(std::forward<A>(awaited), &on);
}

}  // namespace weir::execution

#endif
