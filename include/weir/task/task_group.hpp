// weir task: task_group: starts any number of tasks, one by one, and waits for all of them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_TASK_GROUP_HPP
#define WEIR_TASK_TASK_GROUP_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/executor_users.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/task.hpp>

#include <concepts>     // for std::same_as
#include <coroutine>    // for std::coroutine_handle, std::suspend_never
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::exception_ptr
#include <type_traits>  // for std::is_convertible_v
#include <utility>      // for std::move

namespace weir {

/// Called once by the destructor of a `task_group`, after its wait for the tasks, if tasks failed since the
/// last `join`. `first` is the exception of the task that failed first, `count` the number of failed tasks.
using unjoined_sink = void (*)(const std::exception_ptr& first, std::size_t count) noexcept;

namespace detail {

void print_unjoined(const std::exception_ptr& first, std::size_t count) noexcept;

inline constinit process_function<unjoined_sink> the_unjoined_sink{&print_unjoined};

template <class T>
std::suspend_never reject_task() noexcept {
    static_assert(std::is_convertible_v<T, task<>>,
                  "weir: a task_group runs task<>, which gives nothing. If this is a coroutine "
                  "function, call it; if it is a task with a name, give it away: std::move(it); if it "
                  "gives something, await it in a task<> that takes it");
    return {};
}

}  // namespace detail

/// Sets the `unjoined_sink` of the process. The default prints a line on stderr. Null: none is called.
/// \returns the previous function. Threads: any.
unjoined_sink set_unjoined_sink(unjoined_sink sink) noexcept;

/// Starts tasks one by one, and waits for all of them: no task outlives its group.
///
///     weir::task_group group(pool);
///     for (auto& file : files) group.spawn(index(file));
///     co_await group.join();
///
/// `spawn` and `join` are those of the standard's `counting_scope` (P3149), except for which threads may call
/// them; `fork` is an addition. There is no `request_stop`, for which each wait of a task would pay: give the
/// tasks a stop token.
///
/// Errors:   `join` throws the first exception of a task, after all tasks have ended.
/// Threads:  `spawn`, `fork` and `join` from one at a time; the tasks run on any thread of the executor.
///           Where all coroutines run on one thread, tasks of the group may call `spawn` and `fork` as well,
///           also during a `join`. On several threads, a task that starts others makes a group for them.
/// Stops:    a task of a group that was made in a pipeline's function counts as work of its stage: a wait for
///           the end of that pipeline's run would never end, and so throws `std::logic_error` there.
/// Lifetime: the destructor waits for tasks that were not joined, as after an exception between `spawn` and
///           `join`. It blocks the thread, as `sync_wait` does, and calls the `unjoined_sink` if tasks have
///           failed. If the wait ends in a `deadlock_error`, the tasks that can't end stay suspended, and
///           must not be resumed any more.
/// Cost:     the task's own frame; one atomic operation when it ends.
class task_group final : detail::task_join {
  public:
    /// \param ex  runs the tasks. Outlives the group.
    explicit task_group(executor& ex) noexcept : executor_(&ex, detail::executor_user::task_group) {}
    /// Rejects other types, and temporaries, at compile time.
    template <class Ex>
        requires(!std::is_convertible_v<Ex, executor&> && !std::same_as<std::remove_cvref_t<Ex>, task_group>)
    explicit task_group(Ex&&) noexcept : executor_(nullptr, detail::executor_user::task_group) {
        static_assert(std::is_convertible_v<Ex, executor&>,
                      "weir: a task_group runs its tasks on an executor that outlives it: a thread_pool, a "
                      "run_loop, virtual_time, or what derives from weir::executor, with a name");
    }
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;
    ~task_group();

    /// Starts a task on the group's executor, never inside this call. May be called again after a `join`.
    ///
    /// Errors:   `std::logic_error` for a task that was awaited before or is empty.
    void spawn(task<>&& t);

    /// Starts a task at once, on this thread. The caller continues when the task waits for something or has
    /// ended; another thread may resume the caller earlier. So the tasks of a long loop don't pile up. If the
    /// caller does not run on the group's executor, the task is started as by `spawn`, and the caller
    /// continues at once.
    ///
    /// \returns  awaitable of void.
    /// Suspends: always. Resumes: on the awaiter's executor. Errors: as `spawn`.
    [[nodiscard("co_await this, or nothing is started")]] auto fork(task<>&& t) noexcept {
        return fork_operation(*this, std::move(t));
    }

    /// Waits until all tasks have ended: those started before, and those that tasks start during the wait.
    ///
    /// \returns  awaitable of void.
    /// Suspends: unless all have ended. Resumes: on the awaiter's executor. A coroutine of another library
    ///           resumes on the executor that its promise names, or on a thread of weir: see `channel`.
    /// Errors:   the exception of the task that failed first since the last `join`; the others are dropped.
    ///           `forked_error` in a forked process if the group's executor is a pool of the parent.
    ///           After a `deadlock_error` the tasks that have not ended remain: `join` may be called again.
    [[nodiscard("co_await this, or nobody waits for the tasks")]] auto join() noexcept {
        return join_operation(*this);
    }

    /// Rejects other arguments of `spawn` at compile time.
    template <class Other>
        requires(!std::is_convertible_v<Other, task<>>)
    void spawn(Other&&) {
        detail::reject_task<Other>();
    }
    /// The same as `spawn` above: rejects other arguments of `fork` at compile time.
    template <class Other>
        requires(!std::is_convertible_v<Other, task<>>)
    auto fork(Other&&) {
        return detail::reject_task<Other>();
    }

  private:
    class fork_operation {  // the awaitable of `fork`
      public:
        // Tags for `co_await` in a task. The suspended caller is ready to run at once: so the slot (worker of
        // a stage) to which it belongs, if any, is in state `runnable`. The coroutine that runs next on this
        // thread is the new task, a part of this await.
        static constexpr bool ready_at_once = true;
        static constexpr bool resumes_own_parts = true;

        fork_operation(task_group& g, task<>&& t) noexcept : group_(&g), task_(std::move(t)) {}
        bool await_ready() const;
        // Resumes on the coroutine's executor, on any thread there: this thread runs the new task.
        template <class Promise>
        WEIR_NOINLINE std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) noexcept {
            executor* const ex = detail::env_of(h).executor;
            const std::coroutine_handle<> started = group_->start(std::move(task_), h);
            detail::trampoline* const here = detail::trampoline::of_this_call();
            detail::own_forks* const forks = here != nullptr ? here->forks_of(ex) : nullptr;
            // Behind this test `here` is not null: an executor's thread resumes coroutines by a trampoline.
            if (ex != &*group_->executor_ || (forks == nullptr && detail::current_executor() != ex)) {
                group_->executor_->fork(started);
                return h;
            }
            here->set_begun(forks != nullptr ? started.address() : nullptr);  // for task_ended()
            // The coroutine may be running elsewhere from here on.
            forks != nullptr ? forks->fork(h) : ex->fork(h);
            return here->next(started);
        }
        void await_resume() const noexcept {}

      private:
        task_group* group_;
        task<> task_;
    };

    class join_operation {  // the awaitable of `join`
      public:
        explicit join_operation(task_group& g) noexcept : group_(&g) {}
        // If the waiting coroutine is destroyed before all tasks have ended, as after a `deadlock_error`, the
        // tasks remain unjoined.
        ~join_operation() {
            if (waits_) group_->abandon_join();
        }
        bool await_ready() const noexcept { return group_->spawned_ == 0; }
        // Resumes on the awaiter's executor, posted by the task that ends last. False: all tasks have ended.
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> h) {
            detail::check_threads_of(&*group_->executor_);
            group_->awaiter_executor_ = &detail::executor_of(detail::env_of(h));
            group_->awaiter_ = h;
            waits_ = true;  // before the tasks can wake the waiter
            return group_->begin_join();
        }
        void await_resume() {
            waits_ = false;
            group_->joined();
        }

      private:
        task_group* group_;
        bool waits_ = false;  // a join has begun, and not ended
    };

    // Counts the task, and takes over its coroutine, which task_ended() destroys. Returns the coroutine,
    // to be resumed on the group's executor by the caller. `forker`: the coroutine that awaits `fork`; null:
    // the task was spawned.
    std::coroutine_handle<> start(task<>&& t, std::coroutine_handle<> forker = {}) noexcept;

    // The value from which the ends of tasks count `unfinished_` down before a join: so large that they never
    // reach 0. A join subtracts `unjoined - spawned_`: the number of tasks that have not ended remains.
    // During the join `spawned_` is negative, and the start of a task adds 1 to `unfinished_`.
    static constexpr std::int64_t unjoined = std::int64_t{1} << 61;

    // Called at the end of each task: keeps the task's exception, destroys the task's frame, and counts the
    // end. The last end wakes the waiter of the join, if a join has begun. Returns the coroutine that the
    // thread resumes next: if the fork was in effect an await of the task (see below), the coroutine that
    // forked the task; else a coroutine that does nothing.
    WEIR_NOINLINE std::coroutine_handle<> task_ended(detail::task_promise_base& promise) noexcept override {
        const std::coroutine_handle<> forker = promise.forked_before();
        detail::trampoline* const here = forker ? detail::trampoline::of_this_call() : nullptr;
        bool begun = false;
        {
            const task<> owned = detail::joined_task_ref<void>::adopt(promise);
            const detail::joined_task_ref<void> ended(owned);
            if (ended.has_exception()) keep(ended.exception());
            begun =
                here != nullptr && here->has_begun(ended.address()) && promise.env().executor == &*executor_;
        }
        // `begun`: since the fork, only this task and coroutines that it awaits have run on this thread. If
        // no other thread has taken the forking coroutine either, the fork was in effect an await of the
        // task: `unfinished_` needn't count the end of the task.
        detail::own_forks* const forks = begun ? here->forks_of(&*executor_) : nullptr;
        if (forks != nullptr && forks->take_back(forker)) {
            if (--spawned_ < 0) [[unlikely]]
                count_during_join(-1);
            return here->next(forker);
        }
        // acq_rel; pairs with itself, begin_join() and abandon_join(): the last of them sees what all tasks
        // did
        if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            thread_ != nullptr ? thread_->set() : awaiter_executor_->post(awaiter_);
        }
        return std::noop_coroutine();
    }

    void keep(std::exception_ptr error) noexcept;  // `join` throws the first one; the others are counted

    // Adds to `unfinished_` during a join. Called by a task of the group before the task's own end is
    // counted: so `unfinished_` doesn't become 0. relaxed: the count of that end orders what the task did
    void count_during_join(std::int64_t n) noexcept { unfinished_.fetch_add(n, std::memory_order_relaxed); }

    // Called when a join begins: makes `unfinished_` the number of tasks that have not ended. False: all have
    // ended.
    bool begin_join() noexcept;

    // Ends a join whose waiter is destroyed: the tasks that have not ended count as spawned after it.
    void abandon_join() noexcept;

    // Blocks the thread of the destructor until all tasks have ended.
    void block() noexcept;

    // Calls the `unjoined_sink`, not under the lock, if tasks have failed since the last join.
    void report_errors() noexcept;

    // Ends a join: resets the counts, and throws the first exception of a task. relaxed: all tasks have
    // ended, so no other thread uses `unfinished_`
    void joined() {
        spawned_ = 0;
        unfinished_.store(unjoined, std::memory_order_relaxed);
        errors_ = 0;
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    }

    detail::executor_use executor_;       // counts the group as a user of the executor
    const detail::work_of_starter work_;  // the stage or run that made the group; passed to the tasks
    // The number of tasks since the last join that `unfinished_` has to count; negative during a join.
    std::int64_t spawned_ = 0;
    detail::standard_platform::atomic<std::int64_t> unfinished_{unjoined};
    std::coroutine_handle<> awaiter_;  // of the join
    executor* awaiter_executor_ = nullptr;
    detail::parker* thread_ = nullptr;  // wakes the destructor
    detail::spin_lock lock_;            // guards `error_` and `errors_`
    std::exception_ptr error_;          // the exception of the first task that failed
    std::size_t errors_ = 0;            // tasks that have failed since the last join
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/task/task_group.ipp>
#endif

#endif
