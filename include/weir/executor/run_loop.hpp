// weir executor: an executor that one thread runs; while a coroutine blocks that thread, another one runs it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_RUN_LOOP_HPP
#define WEIR_EXECUTOR_RUN_LOOP_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/polled_source.hpp>
#include <weir/executor/ready_queue.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system.hpp>
#include <weir/platform/thread_record.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <exception>  // for std::exception_ptr
#include <vector>     // for std::vector

namespace weir {

namespace detail {

class foreign_run_loop;

// A loop is run in turns, each by one call on one thread; the thread that runs a turn holds the loop. A
// coroutine that blocks in a turn occupies the stack of its thread, so nothing else may run there. Another
// thread, a stand-in, holds the loop until that coroutine can resume. Only one thread holds the loop at a
// time, so coroutines run in the same order as if the blocked one had suspended. Flags hand the loop from
// thread to thread, so members that only the holder uses need no lock. A stand-in that has passed the loop on
// is kept as a spare.
class loop_turns {
  public:
    // The interface of the loop.
    class loop {
      public:
        // Called on the thread that holds the loop: resumes at most one coroutine. If none is ready, a
        // `run_loop` polls its sources (a GPU, MPI), or sleeps until a coroutine is posted, a timer or poll
        // is due, or `done` is set or poked; `virtual_time` moves its clock. The sleep ends, or the clock
        // stops, at `limit`.
        // Errors: `deadlock_error`.
        virtual void turn(parker& done, time_point limit) = 0;
        // The time on the loop's clock.
        virtual time_point instant() const noexcept = 0;
        // Called on a thread that blocks and has passed the loop on. Sleeps until `done` is set, or until
        // `limit`; then wakes the thread that sleeps in `turn`, which passes the loop back. Returns at once
        // if only coroutines of the loop set such flags, as on `virtual_time`: the caller then sleeps until
        // it gets the loop back.
        virtual void sleep(parker& done, time_point limit) noexcept = 0;

      protected:
        ~loop() = default;
    };

    loop_turns() noexcept = default;
    loop_turns(const loop_turns&) = delete;
    loop_turns& operator=(const loop_turns&) = delete;
    // A coroutine that blocks its thread when the object is destroyed never resumes.
    ~loop_turns();

    // Whether the calling thread holds the loop.
    bool is_held_here() const noexcept;
    bool any_blocked() const noexcept { return !blocked_.empty(); }

    // The body of `executor::drive`. On the loop's own thread: runs one turn; but if the wait of a blocked
    // thread is over, passes the loop to that thread, and returns when the loop is passed back. Inside of a
    // turn: blocks until `done` is set, or until `limit`, while another thread runs the loop.
    void drive(loop& l, parker& done, time_point limit);

  private:
    // A thread that blocks in a turn; the object is on its stack.
    struct blocked {
        parker* done;                // the flag for which the thread waits
        time_point limit;            // of the wait
        std::exception_ptr error{};  // a `deadlock_error`, which the thread throws
        parker go{};                 // set when the loop is passed to the thread

        blocked(parker& d, time_point l) noexcept : done(&d), limit(l) {}
    };
    // A stand-in that waits to be used again; the object is on its stack.
    struct spare {
        spare* next;
        loop* next_loop = nullptr;  // null: the thread has to end
        parker called{};

        explicit spare(spare* n) noexcept : next(n) {}
    };

    // Blocks this thread, which runs a turn, as `drive` says; another thread runs the loop meanwhile.
    void block(loop& l, parker& done, time_point limit);

    // Runs one turn. If threads are blocked, a `deadlock_error` of the turn is thrown on the thread that
    // blocked last. All other exceptions of the turn leave this call.
    void run_turn(loop& l, parker& done, time_point limit);

    // Removes from `blocked_` the first thread whose flag is set, whose limit has passed, or which has an
    // error. Null: there is none.
    blocked* next_ready(const loop& l) noexcept;

    // Passes the loop to its own thread, if that waits in `drive`, or to a stand-in. False: no thread could
    // be started.
    bool pass_on(loop& l) noexcept;
    // Wakes a spare to run `l`; null: to end.
    void wake_spare(loop* l) noexcept;

    // The thread function of a stand-in.
    static void run(void* turns) noexcept;
    // Runs the loop until a blocked thread can go on, or the loop's own thread waits in `drive`; passes the
    // loop to that thread, and waits as a spare. Returns the loop to run next; null: to end.
    loop* stand_in(loop& l) noexcept;

    // relaxed, in both functions: is_held_here() only compares the value with the caller's own id
    void hold() noexcept { holder_.store(standard_platform::this_thread(), std::memory_order_relaxed); }
    void hold_no_more() noexcept;

    standard_platform::atomic<decltype(standard_platform::this_thread())> holder_{};
    // Used only by the thread that holds the loop.
    std::vector<blocked*> blocked_;  // in the order in which they blocked
    spare* spares_ = nullptr;        // a list of waiting stand-ins
    loop* first_ = nullptr;          // the argument of `run`: the loop that a new stand-in holds first
    parker* own_thread_ = nullptr;   // wakes the loop's own thread, which waits in `drive` for the loop

    // The number of stand-ins that have not ended: the destructor waits for those that do not block.
    standard_platform::atomic<std::size_t> stand_ins_{0};
    // The process that has these threads. In a forked child, the destructor does nothing.
    process_of_origin born_;
};

}  // namespace detail

/// Runs coroutines on the thread that constructed the loop, whenever that thread calls `drive`, first come,
/// first served. While a coroutine blocks that thread in a wait of the library, another thread runs the loop.
/// `sync_wait(awaitable)` uses such a loop.
///
/// Threads: the constructing thread drives; any thread may post.
/// Lifetime: outlives the coroutines that run on it.
/// Cost:     a short lock for each post and for each resumption. While coroutines of the loop wait for a GPU
///           or for MPI, and none is ready, the thread in `drive` polls as an idle worker of a pool does.
class run_loop final : public executor, detail::loop_turns::loop {
  public:
    run_loop();

    using executor::post;
    WEIR_INLINE void post(std::coroutine_handle<> h) noexcept override;

    WEIR_INLINE void add(timer& t) noexcept override;

    WEIR_INLINE void cancel(timer& t) noexcept override;

    /// Runs the next coroutine. If none is ready, sleeps until one is posted, a timer or a poll is due,
    /// `done` is set or poked, or until `limit`. Called by a coroutine of the loop: sleeps until `done` is
    /// set, or until `limit`, while another thread runs the loop.
    /// \returns false, at once, if the calling thread neither constructed the loop nor runs it now; otherwise
    /// true.
    WEIR_INLINE bool drive(detail::parker& done, time_point limit) override;

    // The next sleep of this thread works in a lent place of `other`. No effect on the thread of another
    // library, which has resumed a coroutine of the loop.
    void waits_for(executor& other) noexcept override {
        if (turns_.is_held_here()) lender_ = &other;
    }

    WEIR_INLINE bool polls(detail::pollable& source) noexcept override;

  private:
    friend detail::foreign_run_loop;
    explicit run_loop(const executor_traits& traits) : executor(traits) {}

    WEIR_INLINE void turn(detail::parker& done, time_point limit) override;
    time_point instant() const noexcept override { return now(); }
    WEIR_INLINE void sleep(detail::parker& done, time_point limit) noexcept override;
    // The instant at which the loop has to poll. In a forked process `never`: the devices are the parent's.
    std::int64_t next_poll() noexcept;

    const decltype(detail::standard_platform::this_thread()) thread_ =
        detail::standard_platform::this_thread();
    detail::spin_lock lock_;
    detail::ready_queue ready_;
    timer_queue timers_;
    detail::basic_pollables<> sources_;  // polled in `turn`, if no coroutine is ready
    detail::parker* sleeper_ = nullptr;  // the flag on which the thread that runs the loop sleeps; or null
    bool looks_again_ = false;           // the thread that runs the loop skips its next sleep
    // Used only by the thread that holds the loop. The executor of a run, if the coroutine that was resumed
    // last waits for an item of this run; else null.
    executor* lender_ = nullptr;
    detail::loop_turns turns_;  // lets another thread run the loop while a coroutine blocks its thread
};

namespace detail {

// A `run_loop` on a thread of its own, from the first use to the end of the process. It resumes the
// coroutines of other libraries that no executor runs: see `executor_of`. So the header of each awaitable of
// weir includes this header.
class foreign_run_loop {
  public:
    // Errors: `forked_error` in a process that was forked after the first use; `std::system_error` if no
    //         thread can be started.
    static executor& get();

  private:
    foreign_run_loop();
    static void run(void*);
    static foreign_run_loop*& starting() noexcept;  // for run(): the only object

    const process_of_origin process_;  // the process that has the thread
    run_loop* loop_ = nullptr;
    parker started_;  // set when the thread has made `loop_`
};

// Before main, makes the loop above the executor of coroutines that no executor runs (platform/env.hpp).
inline const bool has_foreign_executor = (foreign_executor = &foreign_run_loop::get) != nullptr;

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/executor/run_loop.ipp>
#endif

#endif
