// weir execution: tasks, operations of channels and runs as senders
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_AS_SENDER_HPP
#define WEIR_EXECUTION_AS_SENDER_HPP

#include <weir/execution/library.hpp>
#include <weir/execution/rooted_operation.hpp>
#include <weir/executor/executor.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/task.hpp>

#include <concepts>     // for std::invocable
#include <type_traits>  // for std::is_reference_v
#include <utility>      // for std::move

namespace weir::execution {

namespace detail {

// Connected once, as an rvalue.
template <class A>
class [[nodiscard("connect and start this, or nothing of it runs")]] awaitable_sender {
  public:
    using sender_concept = lib::sender_t;
    using completion_signatures = typename signatures<A, given_t<A>>::type;

    awaitable_sender(A awaited, executor* on) : awaited_(std::move(awaited)), on_(on) {}

    template <class Receiver>
    [[nodiscard]] auto connect(Receiver receiver) && {
        return rooted_operation<A, Receiver>(std::move(awaited_), on_, std::move(receiver));
    }

  private:
    A awaited_;
    executor* on_;
};

// Called where it is started, as what it gives may stay where it is.
template <class Function>
auto awaits_what_is_given(Function function) -> task<given_t<std::invoke_result_t<Function&>>> {
    co_return co_await function();
}

template <class A>
auto make_sender(A awaited, executor* on) {
    static_assert(
        !std::is_reference_v<given_t<A>>,
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
        return detail::make_sender(detail::awaits_what_is_given<kept>(std::forward<A>(a)), on);
    } else {
        static_assert(
            awaitable<kept> && std::is_move_constructible_v<kept>,
            "weir: as_sender needs what can be awaited and moved, as a task, or a function that gives "
            "what can be awaited: as_sender([&] { return channel.get(); })");
    }
}

}  // namespace detail

/// Makes what a coroutine of ours may await a sender: a task, or a function that gives what is awaited when
/// the sender is started.
///
///     auto work = weir::execution::as_sender(pool, load(file)) | stdexec::then(show);
///     auto next = weir::execution::as_sender([&] { return run.next(); });
///
/// \returns  a sender, to be connected once, as an rvalue. It completes with what awaiting gives, or an
///           `std::exception_ptr`.
/// Threads:  runs, and completes, on the executor of the library that runs the thread which starts it, or
///           where a `channel` would resume a coroutine of another library.
/// Stops:    by the receiver's stop token, as by the stop of a run: what waits for a sleep, a channel or Asio
///           ends, and so the sender completes as stopped; what was done by then, as an item taken, it gives,
///           also under `stop_when`. A race of several senders (`exec::when_any`) drops what the later ones
///           give: race operations that move items by `select`, in one sender.
/// Errors:   what awaiting throws; `forked_error`.
/// Lifetime: the executor outlives the operation; what a function refers to, too.
/// Cost:     one allocation, where it is connected, beside those of the task.
template <class A>
[[nodiscard("connect and start this, or nothing of it runs")]] auto as_sender(A&& awaited) {
    return detail::make_sender_of(std::forward<A>(awaited), nullptr);
}

/// The same on `on`, wherever it is started.
/// Lifetime: `on` outlives the operation.
template <class A>
[[nodiscard("connect and start this, or nothing of it runs")]] auto as_sender(executor& on, A&& awaited) {
    return detail::make_sender_of(std::forward<A>(awaited), &on);
}

}  // namespace weir::execution

#endif
