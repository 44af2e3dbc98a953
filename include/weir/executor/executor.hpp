// weir executor: the interface of executors, which run coroutines; and the errors that blocking calls throw
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_EXECUTOR_HPP
#define WEIR_EXECUTOR_EXECUTOR_HPP

#include <weir/executor/executor_users.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/platform/transfer.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <stdexcept>    // for std::invalid_argument, std::runtime_error
#include <type_traits>  // for std::is_convertible_v
#include <utility>      // for std::exchange
#include <vector>       // for std::vector

namespace weir {

/// A deadlock on virtual time: no coroutine is ready, no timer can advance the time, and a coroutine, or a
/// blocked thread, still waits. `what()` lists the waiters, with the stage and the channel of each if there
/// is one. A `simulation::world` also throws this error after `most_steps` steps.
class deadlock_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A forked process uses a pool, or a run (a started pipeline) on a pool, that its parent made before the
/// fork. A fork copies memory, but only the thread that calls `fork`, so the child has none of the pool's
/// threads. In the child, destructors of such pools and runs return at once and leave their items and
/// coroutines as they are. The parent is not affected.
///
/// These uses are safe in the child: exec, `_exit`, pools made after the fork, and executors that run on one
/// thread (`run_loop`, `virtual_time`). A pipeline's function that forks has to call exec or `_exit` there.
class forked_error : public std::runtime_error {
  public:
    forked_error()
        : std::runtime_error(
              "weir: this process was forked from one whose pool's threads it doesn't have; "
              "exec, or make pools after the fork") {}
};

namespace detail {
class executor_use;
class inline_start;
class pollable;
class registry;

// The state of one worker of an executor, for a watchdog, which reports runs that make no progress.
struct worker_view {
    bool runs = false;       // the worker's thread runs a coroutine
    std::uint64_t done = 0;  // resumptions and channel operations so far
};

// The state of an executor, as a watchdog sees it. An executor that reports nothing keeps the defaults.
struct executor_view {
    bool pending = true;        // a coroutine is queued or a timer is set; or the executor can't tell
    bool crowded = false;       // coroutines are queued, and no thread is free for them
    std::size_t busy = 0;       // threads that are not idle; includes blocked threads
    std::uint64_t resumed = 0;  // coroutines resumed so far
    std::vector<worker_view> workers;
};
}  // namespace detail

/// The properties of an executor that never change; an executor passes them to the base class's constructor.
/// The defaults describe a loop that one thread runs.
///
/// Lifetime: the objects that the pointers point to outlive the executor.
struct executor_traits {
    /// How many coroutines can run at the same time; at least 1.
    std::size_t parallelism = 1;

    /// The executor has threads of its own. In a forked process they don't exist and posted coroutines never
    /// run, so calls that would wait for them throw `forked_error`.
    bool has_threads = false;

    /// A run stays on this executor, as on virtual time: a stage that asks for another executor runs here all
    /// the same. Such an executor has to detect deadlocks itself: a `watchdog` doesn't watch its runs.
    bool exclusive = false;

    /// The executor may be destroyed before the channels that were used on it, as the loop inside `sync_wait`
    /// is. Such channels call `executor::now` of the base class: the derived class must not override `now`.
    bool passing = false;

    /// When a coroutine awaits `when_all`, its thread may resume one of the parts at once, before any posted
    /// coroutine. If false, all parts go to `fork`.
    bool continues_with_forks = false;

    /// The executor to which this executor forwards; else null. A channel that was given no clock measures by
    /// the clock of that executor.
    executor* way_into = nullptr;

    /// For the library's exclusive executors: the registry of the objects on which their coroutines wait.
    /// Null: the process-wide registry, which a `watchdog` reads.
    detail::registry* waiters = nullptr;

    /// For the library's executors: `post` wakes threads only through the platform, which counts wake-ups.
    /// Then a post counts as the library's `overhead` in statistics only if it woke a thread. False: always.
    bool counts_wakes = false;
};

/// Runs coroutines. The base class of pools, virtual time, and adapters to event loops. To write one,
/// implement `post`, `add`, `cancel` and `drive`, and `now` if it has a clock of its own; examples/ has one
/// of some twenty lines. Constant properties are passed to the constructor: `executor({.parallelism = 4})`.
///
/// An implementation guarantees:
/// - `post` queues the handle and returns; it never resumes the coroutine inside the call. Each posted handle
///   is resumed exactly once, by `resume(h)`. Effects that precede `post` are visible to the coroutine.
/// - The executor may be destroyed as soon as its last coroutine has ended, even while the call of `post` or
///   `add` that queued this coroutine has not returned yet on another thread.
/// Lifetime: an executor outlives its coroutines and its users: runs, task groups, watchdogs,
/// `priority_lanes`, and channels that were made with it. If a user is left, the destructor prints a
/// message and aborts, in every build mode; but not in a forked process, after a deadlock, or in `std::exit`.
///
/// An abstract class, because a concept behind a type-erased reference is no faster: bench/results.md.
class executor {
  public:
    /// The flag for which a blocked thread waits: `is_set`, `wait(ns)`, `poke`. See `drive`.
    using flag = detail::parker;

    /// Queues a coroutine to be resumed. Any thread may call this, unless the implementation says otherwise.
    virtual void post(std::coroutine_handle<> h) noexcept = 0;
    /// Rejects functions at compile time. Visible in a derived class after `using executor::post`.
    template <class Function>
        requires(!std::is_convertible_v<Function, std::coroutine_handle<>>)
    void post(Function&&) noexcept {
        static_assert(std::is_convertible_v<Function, std::coroutine_handle<>>,
                      "weir: an executor runs coroutines, not functions: make it a weir::task<>, and spawn "
                      "that in a weir::task_group, or run it with weir::sync_wait(executor, task)");
    }

    /// Queues one of several parts of a job, which may run in parallel: a task that has not begun; or the
    /// coroutine that made the task, if its thread runs the task at once. The executor chooses the order.
    virtual void fork(std::coroutine_handle<> h) noexcept { post(h); }

    /// Posts `t.waiter()` at `t.deadline()` or later, earlier only if the timer is cancelled. A `timer_queue`
    /// does the work: `if (!timers.add(t)) post(t.waiter());`
    virtual void add(timer& t) noexcept = 0;

    /// Removes a timer, and posts its waiter now. Before `add`: marks the timer, and `add` posts the waiter.
    /// After the waiter was posted: no effect. `if (timers.cancel(t, now())) post(t.waiter());`
    virtual void cancel(timer& t) noexcept = 0;

    /// The clock of this executor's timers and of the statistics of what runs on it. Any thread may call
    /// `now`, also under a lock of the library: an implementation must neither block nor use a channel.
    [[nodiscard]] virtual time_point now() const noexcept {
        return time_point(duration(detail::standard_platform::now()));
    }

    /// Lets a thread that waits for `done` run this executor's work meanwhile: in `sync_wait`, in a blocking
    /// get or put, at the end of a run or group. Called repeatedly until `done` is set, or until `limit`.
    /// Only the executor can tell whether the calling thread is the one that runs it:
    /// - The calling thread runs it (a game loop or event loop on its own thread): runs one turn of the loop,
    ///   and returns true. If nothing is ready, the turn may sleep until `limit`, in `done.wait(ns)`, which
    ///   `done.poke()` ends. A coroutine that blocks calls `drive` inside such a turn: so a turn removes from
    ///   the queue only the coroutine that it resumes next.
    /// - Otherwise: returns false, and the caller sleeps. This is enough for an executor with threads of its
    ///   own, at least one of which never blocks. (A pool's own thread hands its place to another thread.)
    /// \returns true: the caller checks `done`, and calls again; false: the caller sleeps.
    /// Errors: `deadlock_error` if the executor detects that nothing can ever run again; `forked_error` if
    ///         its threads are in another process.
    virtual bool drive(flag& done, time_point limit) = 0;

    /// Called by a thread of the program that waits for an item of a run. The thread works in the place of
    /// one of this executor's threads, which pauses meanwhile: see `run_options::consumers_help`.
    /// \returns true when `done` is set or poked; false if the thread can't work here, or finds nothing to
    ///          run: the caller sleeps until `done` is set.
    virtual bool lend_place(flag& done) noexcept { return static_cast<void>(done), false; }

    /// A coroutine of this executor waits for an item of a run on `other` that has `consumers_help`. If no
    /// coroutine is ready, this executor's thread may call `other.lend_place` until the item has come.
    virtual void waits_for(executor& other) noexcept { static_cast<void>(other); }

    /// For headers of weir: an operation of `source` (a GPU, MPI) is pending; a coroutine may wait for it.
    /// \returns whether idle threads of this executor poll `source` from now on, until it is closed.
    virtual bool polls(detail::pollable& source) noexcept { return static_cast<void>(source), false; }

    /// For adapters to other libraries. `library`: an address that identifies a library, such as Asio.
    /// \returns that library's own executor, if this class wraps one; else null. Lifetime: that of `*this`.
    [[nodiscard]] virtual const void* runs_on(const void* library) const noexcept {
        return static_cast<void>(library), nullptr;
    }

    /// The properties that never change.
    [[nodiscard]] const executor_traits& traits() const noexcept { return traits_; }
    /// How many coroutines can run at once now: `traits().parallelism`, unless the number of threads changes.
    [[nodiscard]] virtual std::size_t parallelism() const noexcept { return traits_.parallelism; }

    /// The executor for references that are kept: `traits().way_into`, which outlives this executor; or this
    /// executor, if `way_into` is null.
    [[nodiscard]] executor& lasting() noexcept {
        return traits_.way_into != nullptr ? *traits_.way_into : *this;
    }

    /// True in a process that was forked from the one in which this executor has threads.
    [[nodiscard]] bool orphaned() const noexcept {
        return traits_.has_threads && !users_.is_process_of_origin();
    }

    /// For a `watchdog`, on its thread: reports what runs and is queued. The default leaves `view` as it is.
    /// Errors: `std::bad_alloc`: the watchdog skips this inspection.
    virtual void inspect(detail::executor_view& view) const { static_cast<void>(view); }

    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;
    virtual ~executor() noexcept = default;

  protected:
    /// Errors: `std::invalid_argument` for a parallelism of 0; `std::bad_alloc`.
    explicit executor(const executor_traits& traits = {})
        : traits_(traits.parallelism != 0
                      ? traits
                      : throw std::invalid_argument(
                            "weir: an executor whose traits say parallelism 0 can run nothing; say how many "
                            "coroutines it runs at the same time, or nothing for 1")),
          users_(traits.passing) {}

    /// The users of this executor. The destructor of the returned object, a member of `executor`, calls
    /// `abort_if_any()`, which ends the program if a user is left. A derived executor calls `abort_if_any`
    /// earlier: after it has joined its threads, before it frees what `post` needs.
    [[nodiscard]] detail::executor_users& users() noexcept { return users_; }

    /// Resumes a posted coroutine, and each coroutine that it transfers control to, as coroutines of this
    /// executor on this thread, in bounded stack. Returns when all of them have suspended or ended.
    /// Errors: exceptions that leave the coroutine; none leave a coroutine of the library.
    void resume(std::coroutine_handle<> h) { shift(*this).resume(h); }

    /// The set-up of `resume`, done once for a thread that resumes many coroutines. Constructed, used and
    /// destroyed on one thread. A coroutine that a shift resumes may make another shift on that thread.
    class shift {
      public:
        /// \param ex  outlives the shift.
        explicit shift(executor& ex) noexcept : shift(ex, nullptr) {}
        /// For the library's pools. `forks`: the thread's queue for `fork`; null: none. Outlives the shift.
        shift(executor& ex, detail::own_forks* forks) noexcept
            : before_(std::exchange(detail::current_executor(), &ex)), trampoline_(forks) {}
        shift(const shift&) = delete;
        shift& operator=(const shift&) = delete;
        ~shift() { detail::current_executor() = before_; }

        /// Errors: those of `executor::resume`.
        void resume(std::coroutine_handle<> h) { trampoline_.resume(h); }

      private:
        executor* const before_;  // the executor whose coroutine the thread runs outside of this shift
        detail::trampoline trampoline_;
    };

  private:
    friend detail::executor_use;
    friend detail::inline_start;
    const executor_traits traits_;
    detail::executor_users users_;
};

namespace detail {

// A user of an executor, counted from construction to destruction.
class executor_use {
  public:
    // `ex` null: there is no executor, and nothing is counted.
    executor_use(executor* ex, executor_user kind) noexcept : executor_(ex), kind_(kind) {
        if (ex != nullptr) ex->users_.join(kind);
    }
    executor_use(executor_use&& other) noexcept
        : executor_(std::exchange(other.executor_, nullptr)), kind_(other.kind_) {}
    executor_use& operator=(executor_use&&) = delete;
    ~executor_use() {
        if (executor_ != nullptr) executor_->users_.leave(kind_);
    }
    // For users that are not counted: the flag that tells that the executor was destroyed.
    static const end_flag& end_of(const executor& ex) noexcept { return ex.users_.end(); }
    executor& operator*() const noexcept { return *executor_; }
    executor* operator->() const noexcept { return executor_; }

  private:
    executor* executor_;
    executor_user kind_;
};

// Throws `forked_error` if the threads of `ex` are in the parent process. Called before a thread waits for
// them, or takes a lock that one of them may hold: in the child nobody would unlock it.
inline void check_threads_of(const executor& ex) {
    if (ex.orphaned()) throw forked_error();
}
inline void check_threads_of(const executor* ex) {
    if (ex != nullptr && was_forked()) check_threads_of(*ex);
}

}  // namespace detail

}  // namespace weir

#endif
