// weir task: a thread waits for an awaitable
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

// A thread that waits for a task, or for a root around anything else.
class waiting_thread final : public detached_task_owner, public task_join {
  public:
    void ended() noexcept override { done.set(); }
    std::coroutine_handle<> task_ended(task_promise_base&) noexcept override {
        done.set();  // the task may be gone from here on
        return std::noop_coroutine();
    }
    parker done;
    const work_of_starter work;
};

}  // namespace detail

/// Runs an awaitable on an executor and blocks the thread until it has ended. On an executor that
/// has no threads of its own (virtual time), the thread does the executor's work meanwhile.
///
/// \returns  what `co_await a` gives; for an rvalue reference, which may be into `a`, the value, unless `a`
///           is a task.
/// Errors:   what `co_await a` throws; `deadlock_error` on virtual time where nothing can go on;
///           `forked_error` on a pool that was made before the process forked.
/// Threads:  from any thread. In a coroutine of `ex` the awaitable begins at once, on this thread. Where it
///           suspends, on a thread of a pool another thread works in its place meanwhile, so nothing else
///           runs on top of the caller, and the pool goes on. The same holds in a coroutine of a `run_loop`,
///           on `virtual_time` and in a simulation: those use several threads then, one at a time.
///           In a coroutine of an executor of your own that `drive` runs, or of Asio's, others run on top of
///           the caller: `co_await` there.
/// Lifetime: reference arguments of a coroutine live until this returns.
/// Cost:     the result of a task is moved as often as by `co_await`, that of anything else once more, which
///           also takes one allocation.
template <awaitable A>
auto sync_wait(executor& ex, A&& a) -> detail::joined_result_t<A> {
    detail::check_threads_of(ex);
    detail::waiting_thread thread;
    if constexpr (detail::is_task<A>) {
        detail::joined_task<typename A::value_type> it(std::forward<A>(a));
        (*it).check_valid();
        detail::inline_start::begin(ex, (*it).start(thread, ex, thread.work.ends()));
        detail::block_until(thread.done, ex);
        return (*it).take();
    } else {
        auto detached_task = detail::make_detached_task<await_result_t<A>, A>(a);
        detail::inline_start::begin(ex, detached_task.prepare(ex, nullptr, thread, thread.work.ends()));
        detail::block_until(thread.done, ex);
        return detached_task.take();
    }
}

/// The same on a loop that runs on this thread: everything that the awaitable starts without naming
/// an executor runs here. Inside of a coroutine: on the executor that runs that one.
template <awaitable A>
auto sync_wait(A&& a) -> detail::joined_result_t<A> {
    if (executor* const here = detail::current_executor()) return weir::sync_wait(*here, std::forward<A>(a));
    run_loop loop;
    return weir::sync_wait(loop, std::forward<A>(a));
}

/// All of them reject what is not an awaitable, and no executor, or one without a name, at compile time.
template <class A>
    requires(!awaitable<A>)
auto sync_wait(A&&) {
    static_assert(awaitable<A>,
                  "weir: sync_wait needs an awaitable: a task, or anything else that co_await takes; "
                  "this argument is none. Did you forget to call the coroutine function?");
}
template <class Ex, class A>
    requires(!std::is_convertible_v<Ex, executor&>)
auto sync_wait(Ex&&, A&&) {
    static_assert(std::is_convertible_v<Ex, executor&>,
                  "weir: sync_wait(executor, awaitable) runs on an executor: a thread_pool, a run_loop, "
                  "virtual_time, or what derives from weir::executor, with a name");
}
/// Rejects what is not an awaitable, on whatever executor.
template <class A>
    requires(!awaitable<A>)
auto sync_wait(executor&, A&&) {
    static_assert(awaitable<A>,
                  "weir: sync_wait needs an awaitable: a task, or anything else that co_await takes; "
                  "this argument is none. Did you forget to call the coroutine function?");
}

}  // namespace weir

#endif
