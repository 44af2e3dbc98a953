// weir task: starts any number of tasks, one by one, and waits for all of them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_TASK_GROUP_HPP
#define WEIR_TASK_TASK_GROUP_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/executor_users.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/foreign_executor.hpp>
#include <weir/task/task.hpp>
#include <weir/task/unjoined_sink.hpp>

#include <concepts>     // for std::same_as
#include <coroutine>    // for std::coroutine_handle, std::suspend_never
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::exception_ptr
#include <mutex>        // for std::lock_guard
#include <type_traits>  // for std::is_convertible_v
#include <utility>      // for std::move

namespace weir {

/// Tasks that were started and that somebody still waits for: none outlives the group.
///
///     weir::task_group group(pool);
///     for (auto& file : files) group.spawn(index(file));
///     co_await group.join();
///
/// The standard's is `counting_scope` (P3149): the same `spawn` and `join`; it has no `fork`. Here is no
/// `close`, as who joins is who spawns, and no `request_stop`, for which each wait of a task would pay: tasks
/// are asked to stop by the token that they were given.
///
/// Order:    none among the tasks.
/// Errors:   a task's exception is kept; `join` throws the first one, after all have ended.
/// Threads:  `spawn` and `join` from one thread or coroutine at a time; the tasks run on any thread of
///           the executor.
/// Stops:    a task of a group that was made in a stage's function counts as work of that stage: to wait for
///           the stage's own run there is an error, as of `run_control::stop`.
/// Lifetime: the destructor waits for tasks that nobody joined, as where an exception passes between `spawn`
///           and `join`: it keeps the thread, which runs the executor's work meanwhile, and tells the
///           `unjoined_sink` of their exceptions. Where the wait ends in a `deadlock_error`, the tasks that
///           can't end are left where they wait, and may not be woken any more.
/// Cost:     the task's own frame; one atomic operation when it ends.
class task_group final : detail::task_join {
  public:
    /// \param ex  where the tasks run. Outlives the group.
    explicit task_group(executor& ex) noexcept : executor_(&ex, detail::executor_user::task_group) {}
    /// Rejects what is no executor, or is one without a name, at compile time.
    template <class Ex>
        requires(!std::is_convertible_v<Ex, executor&> && !std::same_as<std::remove_cvref_t<Ex>, task_group>)
    explicit task_group(Ex&&) noexcept : executor_(nullptr, detail::executor_user::task_group) {
        static_assert(std::is_convertible_v<Ex, executor&>,
                      "weir: a task_group runs its tasks on an executor that outlives it: a thread_pool, a "
                      "run_loop, virtual_time, or what derives from weir::executor, with a name");
    }
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;
    ~task_group() {
        if (!is_joined()) block();
        tell_errors();
    }

    /// Starts a task on the group's executor; it never runs inside this call. After a `join` it may be
    /// used again.
    ///
    /// Errors:   `std::logic_error` for a task that has nothing to await.
    void spawn(task<>&& t) {
        detail::joining<void>(t).check_valid();
        executor_->fork(start(std::move(t)));
    }

    /// Starts a task at once, on this thread, and lets the caller go on when the task waits for something
    /// or has ended, or before on another thread: so the tasks of a long loop don't pile up. Else as
    /// `spawn`.
    ///
    /// \returns  awaitable of nothing.
    /// Suspends: always. Resumes: on the awaiter's executor. Errors: as `spawn`.
    [[nodiscard("co_await this, or nothing is started")]] auto fork(task<>&& t) noexcept {
        return fork_operation(*this, std::move(t));
    }

    /// Waits until all have ended that were spawned so far.
    ///
    /// \returns  awaitable of nothing.
    /// Suspends: unless all have ended. Resumes: on the awaiter's executor; one of another library that
    ///           runs on none where a `channel` would resume it.
    /// Errors:   the first exception of a task; the others are dropped. `forked_error` where the group's
    ///           executor is a pool of before a fork.
    [[nodiscard("co_await this, or nobody waits for the tasks")]] auto join() noexcept {
        return join_operation(*this);
    }

    /// Rejects what is no task at compile time.
    template <class Other>
        requires(!std::is_convertible_v<Other, task<>>)
    auto spawn(Other&&) {
        static_assert(std::is_convertible_v<Other, task<>>,
                      "weir: a task_group runs task<>, which gives nothing. If this is a coroutine "
                      "function, call it; if it is a task with a name, give it away: std::move(it); if it "
                      "gives something, await it in a task<> that takes it");
        return std::suspend_never();
    }
    /// Rejects what is no task at compile time.
    template <class Other>
        requires(!std::is_convertible_v<Other, task<>>)
    auto fork(Other&&) {
        static_assert(std::is_convertible_v<Other, task<>>,
                      "weir: a task_group runs task<>, which gives nothing. If this is a coroutine "
                      "function, call it; if it is a task with a name, give it away: std::move(it); if it "
                      "gives something, await it in a task<> that takes it");
        return std::suspend_never();
    }

  private:
    class fork_operation {
      public:
        // For whoever accounts the time: the caller is ready to go on as soon as it is suspended.
        static constexpr bool ready_at_once = true;
        static constexpr bool goes_on_with_parts = true;

        fork_operation(task_group& g, task<>&& t) noexcept : group_(&g), task_(std::move(t)) {}
        bool await_ready() const {
            detail::joining<void>(task_).check_valid();
            return false;
        }
        // Resumes on its executor, on any thread of it: this one goes on with the new task.
        template <class Promise>
        WEIR_NOINLINE std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) noexcept {
            executor* const ex = detail::env_of(h).executor;
            const std::coroutine_handle<> started = group_->start(std::move(task_), h);
            detail::trampoline* const here = detail::trampoline::of_this_call();
            detail::own_forks* const forks = here != nullptr ? here->forks_of(ex) : nullptr;
            // Where that is this thread's executor, there is a trampoline, too: see executor::shift.
            if (ex != &*group_->executor_ || (forks == nullptr && detail::current_executor() != ex)) {
                group_->executor_->fork(started);
                return h;
            }
            here->set_begun(forks != nullptr ? started.address() : nullptr);
            // This frame may be running elsewhere from here on.
            forks != nullptr ? forks->fork(h) : ex->fork(h);
            return here->next(started);
        }
        void await_resume() const noexcept {}

      private:
        task_group* group_;
        task<> task_;
    };

    class join_operation {
      public:
        explicit join_operation(task_group& g) noexcept : group_(&g) {}
        bool await_ready() const noexcept { return group_->spawned_ == 0; }
        // Resumes on the awaiter's executor, posted by the task that ends last.
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> h) {
            return group_->wait(h, detail::env_of(h));
        }
        void await_resume() const { group_->joined(); }

      private:
        task_group* group_;
    };

    // It is then to be resumed on the executor.
    std::coroutine_handle<> start(task<>&& t, std::coroutine_handle<> forker = {}) noexcept {
        detail::joined_task<void> it(std::move(t));
        ++spawned_;
        const std::coroutine_handle<> handle = (*it).start(*this, *executor_, work_.ends(), forker);
        it.release();
        return handle;
    }

    // While nobody waits, `left_` is far above what the tasks take away from it. Who waits takes the rest.
    static constexpr std::int64_t unjoined = std::int64_t{1} << 62;

    // The frame is destroyed here.
    WEIR_NOINLINE std::coroutine_handle<> task_ended(detail::task_promise_base& it) noexcept override {
        const std::coroutine_handle<> forker = it.forked_before();
        detail::trampoline* const here = forker ? detail::trampoline::of_this_call() : nullptr;
        bool begun = false;
        {
            const auto ended = detail::joined_task<void>::of(it);
            if ((*ended).has_exception()) keep((*ended).exception());
            begun = here != nullptr && here->has_begun(ended.address()) && it.env().executor == &*executor_;
        }
        // Nothing has run here since it was forked. If the forker still waits to go on, the group is its own
        // to use, and it is as if it had awaited the task: nobody else has to hear of that.
        detail::own_forks* const forks = begun ? here->forks_of(&*executor_) : nullptr;
        if (forks != nullptr && forks->take_back(forker)) {
            --spawned_;
            return here->next(forker);
        }
        // acq_rel; pairs with itself and with take_the_rest(): who takes the last sees what all tasks did
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            if (thread_ != nullptr) {
                thread_->set();
            } else {
                awaiter_executor_->post(awaiter_);
            }
        }
        return std::noop_coroutine();
    }

    void keep(std::exception_ptr error) noexcept {
        const std::lock_guard guard(lock_);
        ++errors_;
        if (!error_) error_ = std::move(error);
    }

    // The awaiter is resumed on its executor, by the task that ends last. False if all have ended.
    bool wait(std::coroutine_handle<> awaiter, const detail::coroutine_env& env) {
        detail::check_threads_of(&*executor_);
        awaiter_executor_ = &detail::executor_of(env);
        awaiter_ = awaiter;
        return take_the_rest();
    }
    bool take_the_rest() noexcept {
        const std::int64_t rest = unjoined - spawned_;
        // acq_rel; pairs with task_ended(): who takes the last sees all that was done
        return left_.fetch_sub(rest, std::memory_order_acq_rel) != rest;
    }

    void block() noexcept {
        if (detail::exits_in_a_coroutine()) return;
        detail::parker ended;
        thread_ = &ended;
        if (!take_the_rest()) return;
        try {
            detail::block_until(ended, *executor_);
        } catch (...) {
            return;  // they can't end: a deadlock, or a fork of the process
        }
    }

    // The sink is a function of the user's: it is called under no lock.
    void tell_errors() noexcept {
        std::exception_ptr first;
        std::size_t count = 0;
        {
            const std::lock_guard guard(lock_);
            first = std::exchange(error_, nullptr);
            count = errors_;
        }
        if (first) detail::tell_unjoined(first, count);
    }

    // Or somebody waits for that, in vain: a `deadlock_error` ends the wait.
    bool is_joined() const noexcept {
        return spawned_ == 0 || left_.load(std::memory_order_relaxed) <= spawned_;
    }

    void joined() {
        spawned_ = 0;
        left_.store(unjoined, std::memory_order_relaxed);
        errors_ = 0;
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    }

    detail::executor_use executor_;
    const detail::work_of_starter work_;
    std::int64_t spawned_ = 0;  // since the last join
    detail::standard_platform::atomic<std::int64_t> left_{unjoined};
    std::coroutine_handle<> awaiter_;
    executor* awaiter_executor_ = nullptr;
    detail::parker* thread_ = nullptr;  // that waits in the destructor
    detail::spin_lock lock_;            // guards the errors
    std::exception_ptr error_;          // the first
    std::size_t errors_ = 0;
};

}  // namespace weir

#endif
