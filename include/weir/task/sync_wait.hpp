// weir task: sync_wait: a thread waits for an awaitable
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_SYNC_WAIT_HPP
#define WEIR_TASK_SYNC_WAIT_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/parking.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/task.hpp>

#include <coroutine>    // for std::noop_coroutine
#include <type_traits>  // for std::is_convertible_v
#include <utility>      // for std::forward

namespace weir {

namespace detail {

// Wakes the thread when its task, or the detached task around another awaitable, has ended.
class waiting_thread final : public detached_task_owner, public task_join {
  public:
    void ended() noexcept override { done.set(); }
    std::coroutine_handle<> task_ended(task_promise_base&) noexcept override {
        done.set();  // the task may be gone from here on
        return std::noop_coroutine();
    }
    parker done;
    // The stage or run (a started pipeline) for which this thread works; passed to the task, so that the task
    // can't wait for the end of that run, either.
    const work_of_starter work;
};

template <class A>
constexpr bool demand_awaitable() {
    static_assert(awaitable<A>,
                  "weir: sync_wait needs an awaitable: a task, or anything else that co_await takes; "
                  "this argument is none. Did you forget to call the coroutine function?");
    return true;
}

}  // namespace detail

/// Runs an awaitable on an executor, and blocks the thread until the awaitable has ended. Meanwhile the
/// thread runs the executor, if that has no threads of its own, as `virtual_time` and `run_loop`.
///
///     weir::thread_pool pool(4);
///     use(weir::sync_wait(pool, twice(21)));
///
/// \returns  the result of `co_await a`. If that is an rvalue reference, which may refer into `a`, returns a
///           value, unless `a` is a task.
/// Errors:   the exceptions of `co_await a`; `deadlock_error` on virtual time if no coroutine can continue;
///           `forked_error` on a pool that was made before the process forked.
/// Threads:  from any thread. In a coroutine of `ex` the awaitable begins at once, on this thread; on virtual
///           time and in a simulation, which choose the next coroutine, it is posted. If the call has to wait
///           on a thread of a pool, another thread replaces this thread until the call returns: nothing else
///           runs on the caller's stack, and the pool has all its threads. The same holds in a coroutine of a
///           `run_loop`, of `virtual_time` and of a simulation: they then use several threads, one at a time.
///           In a coroutine of an `asio::io_executor`, or of an executor of your own that is run by `drive`,
///           other coroutines run on the caller's stack: `co_await` there. In a task that a coroutine of Asio
///           awaits by `asio::awaited`, the call blocks a thread that runs the context: for ever, if the
///           context has no other thread. `co_await` there, too.
/// Lifetime: temporary arguments of a coroutine live until `sync_wait` returns.
/// Cost:     the result of a task is moved as often as by `co_await`. For any other awaitable one move more,
///           and one allocation.
template <awaitable A>
auto sync_wait(executor& ex, A&& a) -> detail::joined_result_t<A> {
    detail::check_threads_of(ex);
    detail::waiting_thread thread;
    if constexpr (detail::is_task<A>) {
        const task<typename A::value_type> owned(std::forward<A>(a));
        const detail::joined_task_ref<typename A::value_type> joined(owned);
        joined.check_valid();
        detail::inline_start::begin(ex, joined.start(thread, ex, thread.work.ends()));
        detail::block_until(thread.done, ex);
        return joined.take();
    } else {
        auto detached_task = detail::make_detached_task<await_result_t<A>, A>(a);
        detail::inline_start::begin(ex, detached_task.prepare(ex, nullptr, thread, thread.work.ends()));
        detail::block_until(thread.done, ex);
        return detached_task.take();
    }
}

/// The same as `sync_wait` above, on a new `run_loop` that this thread runs. In a coroutine: on the executor
/// that runs the coroutine.
template <awaitable A>
auto sync_wait(A&& a) -> detail::joined_result_t<A> {
    if (executor* const here = detail::current_executor()) return weir::sync_wait(*here, std::forward<A>(a));
    run_loop loop;
    return weir::sync_wait(loop, std::forward<A>(a));
}

/// Rejects an argument that is no awaitable, at compile time.
template <class A>
    requires(!awaitable<A>)
auto sync_wait(A&&) {
    static_assert(detail::demand_awaitable<A>());
}
/// Rejects an argument that is no awaitable, in a call with an executor.
template <class A>
    requires(!awaitable<A>)
auto sync_wait(executor&, A&&) {
    static_assert(detail::demand_awaitable<A>());
}
/// Rejects a first argument that is no executor, or that is a temporary, at compile time.
template <class Ex, class A>
    requires(!std::is_convertible_v<Ex, executor&>)
auto sync_wait(Ex&&, A&&) {
    static_assert(std::is_convertible_v<Ex, executor&>,
                  "weir: sync_wait(executor, awaitable) runs on an executor: a thread_pool, a run_loop, "
                  "virtual_time, or what derives from weir::executor, with a name");
}

}  // namespace weir

#endif
