// weir executor: the one seam to an engine: post a coroutine, read the clock, be woken at an instant
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_EXECUTOR_HPP
#define WEIR_EXECUTOR_EXECUTOR_HPP

#include <weir/executor/end_flag.hpp>
#include <weir/executor/executor_users.hpp>
#include <weir/executor/executor_view.hpp>
#include <weir/executor/forked.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/registry.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/platform/transfer.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::exchange

namespace weir {

namespace detail {
class executor_use;
class inline_start;
}  // namespace detail

/// What stays as it is as long as an executor lives, given once to its constructor. As they stand, the values
/// are those of a loop that one thread runs.
///
/// Lifetime: what it points to lives as long as the executor, or longer.
struct executor_traits {
    /// How many coroutines it runs at the same time; at least 1.
    std::size_t parallelism = 1;

    /// It has threads of its own. A process that is forked from the one that made it has none of them:
    /// nothing that is posted there ever runs, so what would wait for it throws `forked_error` instead.
    bool has_threads = false;

    /// It has to run everything by itself, as virtual time does: stages that ask for an executor of their own
    /// then run here all the same. It sees by itself that nothing can ever run again, and says who waits.
    bool exclusive = false;

    /// It may be gone before the channels that were used on it, as the loop inside `sync_wait`. Its clock has
    /// to be the one of `executor::now`: a channel that was given none then measures by that one.
    bool passing = false;

    /// A coroutine that has suspended may have its thread go on with one of several parts (see `fork`) at
    /// once, before anything that was posted.
    bool continues_with_forks = false;

    /// Where this is a way into another executor, and may be gone before it, that one. A channel that was
    /// given no clock measures by the clock of that one.
    executor* way_into = nullptr;

    /// For those of the library that are `exclusive`: where those are kept who wait here. Null: where a
    /// `watchdog` looks.
    detail::registry* waiters = nullptr;

    /// For those of the library: a `post` wakes threads through the platform alone, which counts that. A post
    /// to any other executor is taken for one that may last, and is timed as `slot_times::overhead`.
    bool counts_wakes = false;
};

/// Runs coroutines. Pools, virtual time, a game loop and Asio all are one; `post`, `add`, `cancel` and
/// `drive` make one, and `now` where it has a clock of its own (examples/ has one in some twenty lines). What
/// never changes about it is told to the constructor: `executor({.parallelism = 4})`.
///
/// What an implementation promises:
/// - `post` queues the handle and returns; it never resumes it inside the call. Each posted handle
///   is resumed exactly once, by `resume(h)`. What happened before `post` is seen by the coroutine.
/// - It may be destroyed as soon as the last of them has ended: also while the call of `post` or `add` that
///   brought that one is still under way, on another thread.
/// - It outlives every coroutine that runs on it, and what uses it: runs, task groups, watchdogs, lanes, and
///   channels that measure by its clock. It counts these: where one is left when it is destroyed, it says so
///   on stderr and ends the program, in every build mode.
///
/// An abstract class, as a concept behind a type-erased reference is no faster: bench/results.md.
class executor {
  public:
    /// What a blocked thread waits on: `is_set`, `wait(ns)`, `poke`. See `drive`.
    using flag = detail::parker;

    /// Queues a coroutine to be resumed. Any thread may call it unless the implementation says
    /// otherwise.
    virtual void post(std::coroutine_handle<> h) noexcept = 0;
    /// Rejects functions at compile time; in a class of yours with `using executor::post`.
    template <class Function>
        requires(!std::is_convertible_v<Function, std::coroutine_handle<>>)
    void post(Function&&) noexcept {
        static_assert(std::is_convertible_v<Function, std::coroutine_handle<>>,
                      "weir: an executor runs coroutines, not functions: make it a weir::task<>, and spawn "
                      "that in a weir::task_group, or run it with weir::sync_wait(executor, task)");
    }

    /// The same for a coroutine that has not begun, one of many parts of something: in whatever order
    /// and on whatever thread of the executor suits it.
    virtual void fork(std::coroutine_handle<> h) noexcept { post(h); }

    /// Posts `t.waiter()` at `t.deadline()` or later, never before. A `timer_queue` does the work:
    /// `if (!timers.add(t)) post(t.waiter());`
    virtual void add(timer& t) noexcept = 0;

    /// Posts a timer's waiter now, unless it was posted already:
    /// `if (timers.cancel(t, now())) post(t.waiter());`
    virtual void cancel(timer& t) noexcept = 0;

    /// The clock by which everything on this executor is timed: its timers, and the statistics of
    /// what runs here. Any thread may call it, also under a lock of the library: it must not block,
    /// nor use a channel.
    [[nodiscard]] virtual time_point now() const noexcept {
        return time_point(duration(detail::standard_platform::now()));
    }

    /// What a thread does that waits until `done` is set by something that runs here: in `sync_wait`, where
    /// it takes an item of a run or a channel, at the end of a run or a group. Called again and again. To be
    /// answered by each executor, as nobody else can tell whether that thread is the one that runs this:
    /// - It is (a game loop, an event loop that exists, on their own thread): runs a little, as one turn of
    ///   the loop, never past the instant `limit`, and returns true. Where there is nothing to run, it may
    ///   sleep on `done.wait(ns)`, and be woken by `done.poke()`. It may be called inside of such a turn, by
    ///   a coroutine that blocks: so a turn takes out of its queue only what it resumes next.
    /// - It isn't: returns false, and the caller sleeps by itself. That is all where the executor has threads
    ///   of its own, of which at least one never blocks. (A pool's own thread leaves its place to another.)
    /// \returns whether this thread is, or helps, what runs here.
    /// Errors: `deadlock_error` from an executor that sees that nothing can ever run again; `forked_error`
    ///         from one whose threads are in another process.
    virtual bool drive(flag& done, time_point limit) = 0;

    /// For the adapters of other libraries: what of the library for which that address stands it runs on.
    /// \returns that, or null. Lifetime: that of this executor.
    [[nodiscard]] virtual const void* runs_on(const void* library) const noexcept {
        static_cast<void>(library);
        return nullptr;
    }

    /// What never changes about it.
    [[nodiscard]] const executor_traits& traits() const noexcept { return traits_; }

    /// The one to keep for later: this, or what it is a way into.
    /// Lifetime: that of this one, or longer.
    [[nodiscard]] executor& lasting() noexcept {
        return traits_.way_into != nullptr ? *traits_.way_into : *this;
    }

    /// True in a process that was forked from the one in which this executor has threads.
    [[nodiscard]] bool orphaned() const noexcept { return traits_.has_threads && !users_.are_of_here(); }

    /// What a `watchdog` asks, from its own thread: whether anything runs here, or is going to. Where that
    /// is not overridden, it always may.
    /// Errors: `std::bad_alloc`: this look is left out.
    virtual void inspect(detail::executor_view& view) const { static_cast<void>(view); }

    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;
    /// Virtual: a `std::unique_ptr<executor>` owns whichever executor a program decides on.
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
    /// Rejects what are no traits at compile time.
    template <class Traits>
        requires(!std::is_convertible_v<Traits, const executor_traits&>)
    explicit executor(Traits&&) {
        static_assert(std::is_convertible_v<Traits, const executor_traits&>,
                      "weir: an executor is constructed with its traits, or with nothing: "
                      "weir::executor({.parallelism = 4})");
    }

    /// What uses it. The destructor calls `users().abort_if_any()`, which ends the program if something still
    /// does; one that joins threads, or frees what a post needs, had better call it between the two.
    [[nodiscard]] detail::executor_users& users() noexcept { return users_; }

    /// Resumes a posted coroutine on this thread, as one of this executor's; returns when it has
    /// suspended or ended. The stack stays flat however many coroutines hand over to each other.
    /// Errors: what leaves the coroutine; of those of the library nothing does.
    void resume(std::coroutine_handle<> h) { shift(*this).resume(h); }

    /// What `resume` sets up, for a thread that resumes many: made there once, it may resume any
    /// number of coroutines until it is destroyed there. Shifts on a thread nest.
    class shift {
      public:
        /// Of `ex`, which outlives it.
        explicit shift(executor& ex) noexcept : shift(ex, nullptr) {}
        /// For the library's pools: `forks` are those of the worker that this thread is.
        /// Lifetime: both outlive it.
        shift(executor& ex, detail::own_forks* forks) noexcept
            : before_(detail::current_executor()), trampoline_(forks) {
            detail::current_executor() = &ex;
        }
        shift(const shift&) = delete;
        shift& operator=(const shift&) = delete;
        ~shift() { detail::current_executor() = before_; }

        /// Errors: as of `executor::resume`.
        void resume(std::coroutine_handle<> h) { trampoline_.resume(h); }

      private:
        executor* const before_;
        detail::trampoline trampoline_;
    };

  private:
    friend detail::executor_use;
    friend detail::inline_start;
    const executor_traits traits_;
    detail::executor_users users_;
};

namespace detail {

// What has to be gone before the executor is: counted there as long as it lives.
class executor_use {
  public:
    // `ex`: null for none.
    executor_use(executor* ex, executor_user kind) noexcept : executor_(ex), kind_(kind) {
        if (ex != nullptr) ex->users_.join(kind);
    }
    executor_use(executor_use&& other) noexcept
        : executor_(std::exchange(other.executor_, nullptr)), kind_(other.kind_) {}
    executor_use& operator=(executor_use&&) = delete;
    ~executor_use() {
        if (executor_ != nullptr) executor_->users_.leave(kind_);
    }
    // The other way: what isn't counted, and may find that it is gone.
    static const end_flag& end_of(const executor& ex) noexcept { return ex.users_.end(); }
    executor& operator*() const noexcept { return *executor_; }
    executor* operator->() const noexcept { return executor_; }

  private:
    executor* executor_;
    executor_user kind_;
};

// Something has waiters, of which coroutines of `ex` are the first: it is found from now on by who reports
// that nothing goes on.
inline void register_site(wait_site& site, const executor& ex) noexcept {
    registry* const own = ex.traits().waiters;
    (own != nullptr ? *own : *the_registry).add(site);
}

// Before a thread waits for something that runs there, and before it takes a lock that a thread of the
// executor may hold: one of the parent's would hold it for ever.
inline void check_threads_of(const executor& ex) {
    if (ex.orphaned()) throw forked_error();
}
inline void check_threads_of(const executor* ex) {
    if (ex != nullptr && was_forked()) check_threads_of(*ex);
}

// The clock of a slot, in nanoseconds.
inline std::int64_t clock_of(const slot& s) noexcept { return s.clock().now().time_since_epoch().count(); }

// The chain of a slot goes on, after a wait, on this thread.
template <class Slot>
void goes_on(Slot& me) noexcept {
    if constexpr (requires { me.meter; }) {
        me.resumed(detail::clock_of(me));
    } else {
        me.resumed();
    }
}
// The same of what has no slot at hand: its work, if it is a slot's, pauses for something that isn't a queue
// of the stage; and goes on. `ready`: when it could have, by the clock of whoever woke it, so not believed
// where that can't be right; 0: unknown.
WEIR_NOINLINE inline void pauses(const coroutine_env& env, slot_state as) noexcept {
    if (env.measured != nullptr) env.measured->enter(as, clock_of(*env.measured));
}
WEIR_NOINLINE inline void continues(const coroutine_env& env, std::int64_t ready = 0) noexcept {
    if (env.measured == nullptr) return trampoline::is_work_of(whose_work(env.ends));
    const std::int64_t now = clock_of(*env.measured);
    if (ready != 0 && ready < now) env.measured->enter(slot_state::runnable, ready);
    env.measured->resumed(now);
}

}  // namespace detail

}  // namespace weir

#endif
