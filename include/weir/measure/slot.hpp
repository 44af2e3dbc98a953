// weir measure, internal: a slot, which is a worker of a stage, and the times of its states and invocations
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_SLOT_HPP
#define WEIR_MEASURE_SLOT_HPP

#include <weir/measure/histogram.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stopwatch.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/transfer.hpp>

#include <cstddef>          // for std::size_t
#include <cstdint>          // for std::int64_t, std::uint8_t, std::uint64_t
#include <source_location>  // for std::source_location
#include <string>           // for std::string

namespace weir {
class executor;
}

namespace weir::detail {

class slot_sampler;
class slot_trail;

// One worker of a stage. Its chain consists of the worker's coroutine and the coroutines that it awaits, of
// which one runs at a time.
class slot : public basic_state_meter<> {
  public:
    slot(const std::string& stage, std::size_t number, executor& clock) noexcept
        : clock_(&clock), stage_(&stage), number_(number) {}

    const std::string& stage() const noexcept { return *stage_; }
    std::size_t number() const noexcept { return number_; }

    // The source location of the stage; set before the slot is used.
    void set_where(const std::source_location& where) noexcept { where_ = where; }
    const std::source_location& where() const noexcept { return where_; }

    // The executor of the run (a started pipeline). All instants here are of its clock, also if the chain
    // runs on another executor.
    executor& clock() const noexcept { return *clock_; }

    // Enters the state `run`: the chain resumes on the calling thread.
    void resumed(std::int64_t now) noexcept {
        enter_thread();
        enter_run(now);
        record_reading(last_resumed_ = now);
    }

    // The chain does work of the library from now on, until `resumed` or `enter_run`.
    void enter_overhead(std::int64_t now) noexcept {
        is_in_overhead_ = true;
        enter(slot_state::overhead, now);
    }
    void enter_run(std::int64_t now) noexcept {
        is_in_overhead_ = false;
        enter(slot_state::run, now);
    }
    bool is_in_overhead() const noexcept { return is_in_overhead_; }

    // The chain resumes: marks the calling thread as working for the stage until the chain suspends. A run
    // without statistics calls only this; `enter_thread` calls it, too. Costs one access to thread-local
    // data.
    void set_work_here() const noexcept { trampoline::set_work_here(stage_); }

    // Stores the thread that runs the chain, for `is_below`. Called by `resumed`. Called without `resumed`
    // when the chain resumes after it has awaited the cancellation of a `delayed_action` (a delayed call):
    // this wait does not change the slot's state. When the chain suspends in it, `leave_thread` is called.
    void enter_thread() noexcept {
        set_work_here();
        thread_.store(standard_platform::this_thread(), std::memory_order_relaxed);
        has_thread_.store(true, std::memory_order_release);  // publishes thread_; pairs with is_below()
    }
    // relaxed: a late store could mislead only the thread in `thread_`, which sees its own store
    void leave_thread() noexcept { has_thread_.store(false, std::memory_order_relaxed); }

    // Whether the chain is on the stack of the calling thread, and so can't continue before the caller
    // returns.
    bool is_below() noexcept {
        // acquire; pairs with enter_thread(): a caller that sees that the chain runs also sees its thread.
        // state() takes a lock that is reserved for the chain's thread, and that a call on another thread
        // would make slower. So was_here() comes first.
        const auto was_here = [this] {
            return has_thread_.load(std::memory_order_acquire) &&
                   thread_.load(std::memory_order_relaxed) == standard_platform::this_thread();
        };
        return was_here() && has_thread(state()) && was_here();
    }

    // Whether the chain had used up its time slice at the last clock reading: it has run for longer than
    // `longest_slice` since it resumed.
    bool has_used_time_slice() const noexcept { return (slow_reasons_ & time_slice_used) != 0; }

    // Sets the trace of the slot, and the journal of its states. Called before the slot is used, if the run
    // is traced: the steps of some items are recorded.
    void start_tracing(slot_trail& by, state_journal& journal) noexcept {
        trail = &by;
        write_into(journal);
    }
    // Until the next call of `follow`, items that the slot puts are traced with this tag; 0: not traced.
    // A put of a traced item takes all locks of the channel, to learn its number. Only the chain calls this.
    void follow(std::uint64_t tag) noexcept {
        followed_ = tag;
        slow_reasons_ =
            static_cast<std::uint8_t>((slow_reasons_ & time_slice_used) | (tag != 0 ? traced : 0));
    }
    std::uint64_t followed() const noexcept { return followed_; }
    bool is_following() const noexcept { return (slow_reasons_ & traced) != 0; }
    // Whether the items that the slot puts are traced, or the time slice is used up: one test for each put.
    bool needs_slow_path() const noexcept { return slow_reasons_ != 0; }

    // The chain has read the clock; `now` is the result.
    void record_reading(std::int64_t now) noexcept {
        last_reading = now;
        const bool is_too_long = add_interval(0, last_resumed_, now) > longest_slice;
        slow_reasons_ =
            static_cast<std::uint8_t>((slow_reasons_ & traced) | (is_too_long ? time_slice_used : 0));
    }

    // The chain's last clock reading, used only by the chain. The end of an invocation is also the beginning
    // of the operation after it, so most operations need no reading of their own.
    std::int64_t last_reading = 0;

    // Counts an invocation that failed, after the time `spent`. Only the chain calls this. The release
    // publishes the time, which is stored before.
    void count_failure(std::int64_t spent) noexcept {
        failure_time_.store(add_interval(failure_time(), 0, spent), std::memory_order_relaxed);
        failures_.store(failures() + 1, std::memory_order_release);  // pairs with failures()
    }
    // The number of failed invocations, and their time. Threads: any. If the number is read before the time,
    // the time includes at least these failures. acquire; pairs with count_failure(); so the time can be
    // relaxed
    std::uint64_t failures() const noexcept { return failures_.load(std::memory_order_acquire); }
    std::int64_t failure_time() const noexcept { return failure_time_.load(std::memory_order_relaxed); }

    // Counts a call of a function that failed, and that the wrapper `retry` repeats. `lost`: the time of the
    // failed call, and of the wait after it. Only a coroutine of the slot calls this. The release publishes
    // the time, which is stored before.
    void count_retry(std::int64_t lost) noexcept {
        retry_time_.store(add_interval(retry_time(), 0, lost), std::memory_order_relaxed);
        retries_.store(retries() + 1, std::memory_order_release);  // pairs with retries()
    }
    // The number of failed calls that were repeated, and the sum of their times `lost`. Threads: any. Read
    // first the number, then the time, as with failures(). acquire; pairs with count_retry()
    std::uint64_t retries() const noexcept { return retries_.load(std::memory_order_acquire); }
    std::int64_t retry_time() const noexcept { return retry_time_.load(std::memory_order_relaxed); }

    // True: the slot must not wait for an item. Either a lower concurrency has taken the slot out of service;
    // or the slot has kept the first items of a batch for the maximum time. A get that would wait ends
    // without an item. The thread that stores true then calls the channel's `recall`, for a get that waits
    // already. relaxed: the lock that `recall` takes orders the flag and the wait
    standard_platform::atomic<bool> recalled{false};

    // True: the slot has ended. Stored with release, loaded with acquire: a reader that sees all slots of a
    // stage gone also sees the stage's output channels closed.
    standard_platform::atomic<bool> gone{false};

    // Sets the first state, in which the slot is from `now` on. Called before the slot is used.
    void begin(std::int64_t now, slot_state state = slot_state::runnable) noexcept {
        basic_state_meter::begin(now, state);
        record_reading(last_resumed_ = now);
    }

  private:
    static constexpr std::int64_t longest_slice = 1'000'000;  // ns
    static constexpr std::uint8_t time_slice_used = 1;
    static constexpr std::uint8_t traced = 2;

    standard_platform::atomic<std::uint64_t> failures_{0};
    standard_platform::atomic<std::int64_t> failure_time_{0};  // ns
    standard_platform::atomic<std::uint64_t> retries_{0};
    standard_platform::atomic<std::int64_t> retry_time_{0};  // ns
    // Only the chain uses these three members.
    std::int64_t last_resumed_ = 0;
    std::uint8_t slow_reasons_ = 0;
    bool is_in_overhead_ = false;
    // The thread that runs the chain, or ran it last. relaxed: `has_thread_` orders it
    standard_platform::atomic<decltype(standard_platform::this_thread())> thread_{};
    standard_platform::atomic<bool> has_thread_{false};
    executor* clock_;
    const std::string* stage_;
    std::source_location where_;
    std::size_t number_;
    std::uint64_t followed_ = 0;

  public:
    // The slot's trace; null: the run is not traced.
    slot_trail* trail = nullptr;
};

// A slot whose invocations are timed. `Histogram` false: without a histogram of their times. Only the chain
// uses the members of this class, except `tasks`, which snapshots read.
template <bool Histogram>
class timed_slot final : public slot {
  public:
    // `times_each`: each invocation gets a clock reading of its own: see `stopwatch`.
    timed_slot(const std::string& stage, std::size_t number, executor& clock,
               bool times_each = false) noexcept
        : slot(stage, number, clock), meter(times_each) {}

    // Divides the time between two clock readings among the invocations between them.
    stopwatch meter;
    // Accounts for the time up to `now`, when the clock was read.
    void catch_up(std::int64_t now) noexcept {
        meter.read(add_interval(0, last_reading, now), tasks);
        record_reading(now);
    }
    // As catch_up(), when an invocation has failed. Returns the time of that invocation.
    std::int64_t catch_up_failed(std::int64_t now) noexcept {
        const std::int64_t spent = meter.read_failure(add_interval(0, last_reading, now), tasks);
        record_reading(now);
        return spent;
    }

    // The times of successful invocations. Written by the chain.
    basic_recorder<standard_platform, Histogram> tasks;

    // The sample of the slot's invocations; null: none is kept. Set before the slot is used.
    slot_sampler* sampler = nullptr;
};

}  // namespace weir::detail

#endif
