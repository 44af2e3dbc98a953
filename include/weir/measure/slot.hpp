// weir measure, internal: where the time of one worker of a stage goes
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_SLOT_HPP
#define WEIR_MEASURE_SLOT_HPP

#include <weir/measure/recorder.hpp>
#include <weir/measure/state_journal.hpp>
#include <weir/measure/stopwatch.hpp>
#include <weir/platform/biased_lock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/transfer.hpp>

#include <array>            // for std::array
#include <cstddef>          // for std::size_t
#include <cstdint>          // for std::int64_t
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <utility>          // for std::pair

namespace weir {
class executor;
}

namespace weir::detail {

class slot_trail;

// Its chain runs on a thread.
constexpr bool has_thread(slot_state s) noexcept { return s == slot_state::run || s == slot_state::overhead; }
// It does nothing, and is not about to.
constexpr bool is_idle(slot_state s) noexcept {
    return !has_thread(s) && s != slot_state::await && s != slot_state::runnable;
}

// How long a slot was in each state, in nanoseconds of the run's clock.
//
// Writers: the slot's chain itself, and, while it is suspended, whoever hands an item over to it. The
// lock is for readers: a snapshot of any thread settles the open interval at its own instant, and a
// transition that was timed before that instant but comes after it is moved up to it. So every
// interval is split exactly at a lap, and no part of it ever counts twice or is negative.
template <class Platform = standard_platform>
class basic_slot_times {
    using lock_type = basic_biased_lock<Platform, 2>;

  public:
    basic_slot_times() noexcept = default;
    basic_slot_times(const basic_slot_times&) = delete;
    basic_slot_times& operator=(const basic_slot_times&) = delete;

    // Not inlined: see WEIR_NOINLINE.
    WEIR_NOINLINE void enter(slot_state next, std::int64_t now) noexcept {
        const typename lock_type::guard held(lock_, basic_thread_record<Platform>::mine());
        settle(now);
        state_ = next;
        entered_ = since_;
        if (journal_ != nullptr) journal_->add(next, since_);
    }
    // Before the run begins.
    void write_into(state_journal& journal) noexcept { journal_ = &journal; }

    // Before any thread uses it: as a rule it will be this one.
    void reserve() noexcept { lock_.reserve(); }

    slot_state state() noexcept {
        const typename lock_type::guard held(lock_);
        return state_;
    }

    // The same, and since when, or since the last snapshot.
    std::pair<slot_state, std::int64_t> state_since() noexcept {
        const typename lock_type::guard held(lock_);
        return {state_, since_};
    }

    // For snapshots. Locked together by stage, then settled at one instant.
    void lock() noexcept { holder_ = lock_.enter(); }
    void unlock() noexcept { lock_.leave(holder_); }
    std::array<std::int64_t, slot_states> spent_until(std::int64_t now) noexcept {
        settle(now);
        std::array<std::int64_t, slot_states> spent{};
        for (std::size_t i = 0; i < slot_states; ++i) spent[i] = read_sum(spent_[i]);
        return spent;
    }
    std::int64_t last_transition() const noexcept { return since_; }
    // Since when it is in its state, whatever snapshots there were.
    std::pair<slot_state, std::int64_t> entered() const noexcept { return {state_, entered_}; }

    // Before the run begins; from `now` on the states partition the time.
    void begin(std::int64_t now, slot_state state) noexcept {
        since_ = entered_ = now;
        state_ = state;
    }

  private:
    void settle(std::int64_t now) noexcept {
        if (now <= since_) return;
        std::int64_t& spent = spent_[static_cast<std::size_t>(state_)];
        spent = add_way(spent, since_, now);
        since_ = now;
    }

    lock_type lock_;
    basic_thread_record<Platform>* holder_ = nullptr;  // of a snapshot; under the lock
    slot_state state_ = slot_state::off;
    std::int64_t since_ = 0;    // it entered its state, or was last asked for its times
    std::int64_t entered_ = 0;  // its state
    std::array<std::int64_t, slot_states> spent_{};
    state_journal* journal_ = nullptr;  // null: nobody asks
};

// One of a stage's workers: a chain of coroutines of which one runs at a time.
class slot : public basic_slot_times<> {
  public:
    slot(const std::string& stage, std::size_t number, executor& clock) noexcept
        : clock_(&clock), stage_(&stage), number_(number) {}

    const std::string& stage() const noexcept { return *stage_; }
    std::size_t number() const noexcept { return number_; }

    // Where its stage was composed; to be set before it is used.
    void composed_at(const std::source_location& where) noexcept { where_ = where; }
    const std::source_location& where() const noexcept { return where_; }

    // Whose clock every instant here is of, wherever the chain runs: the run's.
    executor& clock() const noexcept { return *clock_; }

    // The chain continues on a thread.
    void resumed(std::int64_t now) noexcept {
        is_on_thread();
        enter_run(now);
        reads(last_resumed_ = now);
    }

    // The chain does what is no work of the stage's function, until it is resumed, or `enter_run`.
    void enter_overhead(std::int64_t now) noexcept {
        is_in_overhead_ = true;
        enter(slot_state::overhead, now);
    }
    void enter_run(std::int64_t now) noexcept {
        is_in_overhead_ = false;
        enter(slot_state::run, now);
    }
    bool is_in_overhead() const noexcept { return is_in_overhead_; }

    // The same where nothing is timed. Costs one look at the thread's own data.
    void resumed() const noexcept { trampoline::is_work_of(stage_); }

    // The same of a wait that is not accounted, and before it.
    void is_on_thread() noexcept {
        resumed();
        thread_.store(standard_platform::this_thread(), std::memory_order_relaxed);
        has_thread_.store(true, std::memory_order_release);  // pairs with is_below()
    }
    // relaxed: who would take it for its own wrote that, and sees this
    void leaves_thread() noexcept { has_thread_.store(false, std::memory_order_relaxed); }

    // Whether the chain runs on the calling thread, and so doesn't go on before the caller returns.
    bool is_below() noexcept {
        // By the lock, and the acquire, which pairs with is_on_thread(): who finds that it runs sees where.
        // Where this thread wrote nothing, the lock is left to its owner.
        const auto was_here = [this] {
            return has_thread_.load(std::memory_order_acquire) &&
                   thread_.load(std::memory_order_relaxed) == standard_platform::this_thread();
        };
        return was_here() && has_thread(state()) && was_here();
    }

    // Whether it has had its thread for longer than is fair, as of the last reading.
    bool has_outstayed() const noexcept { return (urges_ & outstayed) != 0; }

    // Before the run begins.
    void is_followed(slot_trail& by, state_journal& journal) noexcept {
        trail = &by;
        write_into(journal);
    }
    // The next item that it puts is followed, and goes under the whole channel's lock, which tells which
    // one it is there. Only the chain changes it.
    void follow(std::uint64_t tag) noexcept {
        followed_ = tag;
        urges_ = static_cast<std::uint8_t>((urges_ & outstayed) | (tag != 0 ? follows : 0));
    }
    std::uint64_t followed() const noexcept { return followed_; }
    // Whether there is one; by what the chain has at hand.
    bool is_following() const noexcept { return (urges_ & follows) != 0; }
    // One look for both, at each operation.
    bool has_urges() const noexcept { return urges_ != 0; }

    // The chain has read the clock.
    void reads(std::int64_t now) noexcept {
        last_reading = now;
        const bool is_too_long = add_way(0, last_resumed_, now) > longest_slice;
        urges_ = static_cast<std::uint8_t>((urges_ & follows) | (is_too_long ? outstayed : 0));
    }

    // The chain's last reading of the clock: the end of an invocation is the beginning of what
    // follows it, so most operations need no reading of their own. Only the chain uses it.
    std::int64_t last_reading = 0;

    // An invocation failed. Only the chain calls this.
    void count_failure(std::int64_t spent) noexcept {
        failure_time_.store(add_way(failure_time(), 0, spent), std::memory_order_relaxed);
        failures_.store(failures() + 1, std::memory_order_release);  // pairs with failures()
    }
    // Any thread; of both the number first, as the time covers at least those. acquire; pairs with
    // count_failure()
    std::uint64_t failures() const noexcept { return failures_.load(std::memory_order_acquire); }
    std::int64_t failure_time() const noexcept { return failure_time_.load(std::memory_order_relaxed); }

    // It is not to wait for an item: a get that would have to gives up. Whoever sets it then calls the
    // channel's `recall`, for a get that waits already.
    standard_platform::atomic<bool> recalled{false};

    // It has ended, and so have, if it was the last of its stage, the channels into which that puts. Set
    // as the last thing; acquire and release.
    standard_platform::atomic<bool> gone{false};

    // Before the run begins.
    void begin(std::int64_t now, slot_state state = slot_state::runnable) noexcept {
        basic_slot_times::begin(now, state);
        reads(last_resumed_ = now);
    }

  private:
    static constexpr std::int64_t longest_slice = 1'000'000;  // ns
    static constexpr std::uint8_t outstayed = 1;
    static constexpr std::uint8_t follows = 2;

    standard_platform::atomic<std::uint64_t> failures_{0};
    standard_platform::atomic<std::int64_t> failure_time_{0};  // ns
    // Only the chain uses these.
    std::int64_t last_resumed_ = 0;
    std::uint8_t urges_ = 0;
    bool is_in_overhead_ = false;
    // On which it runs, or ran last. relaxed: the flag orders it
    standard_platform::atomic<decltype(standard_platform::this_thread())> thread_{};
    standard_platform::atomic<bool> has_thread_{false};
    executor* clock_;
    const std::string* stage_;
    std::source_location where_;
    std::size_t number_;
    std::uint64_t followed_ = 0;

  public:
    // Null: no item of the run is followed.
    slot_trail* trail = nullptr;
};

// One whose invocations are timed. Only the chain knows of that part, so that all others see the same
// slot, whatever is kept.
template <bool Histogram>
class timed_slot final : public slot {
  public:
    // `times_each`: see `stopwatch`.
    timed_slot(const std::string& stage, std::size_t number, executor& clock,
               bool times_each = false) noexcept
        : slot(stage, number, clock), meter(times_each) {}

    // What the chain does besides waiting, which it times by itself.
    stopwatch meter;
    void catch_up(std::int64_t now) noexcept {
        meter.read(add_way(0, last_reading, now), tasks);
        reads(now);
    }
    // Returns the time of the invocation that failed.
    std::int64_t catch_up_failed(std::int64_t now) noexcept {
        const std::int64_t spent = meter.read_failure(add_way(0, last_reading, now), tasks);
        reads(now);
        return spent;
    }

    // Invocations that succeeded, with their times. Written by the chain.
    basic_recorder<standard_platform, Histogram> tasks;
};

}  // namespace weir::detail

#endif
