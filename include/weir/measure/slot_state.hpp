// weir measure, internal: the states of a slot, the time spent in each, and for how long no slot has moved
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_SLOT_STATE_HPP
#define WEIR_MEASURE_SLOT_STATE_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/biased_lock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_record.hpp>

#include <array>    // for std::array
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint8_t, std::uint64_t
#include <utility>  // for std::pair

namespace weir::detail {

// A slot is always in exactly one of these.
enum class slot_state : std::uint8_t { off, wait_get, runnable, run, await, wait_put, wait_turn, overhead };

inline constexpr std::size_t slot_states = 8;

// A thread runs the slot's coroutine.
constexpr bool has_thread(slot_state s) noexcept { return s == slot_state::run || s == slot_state::overhead; }
// The slot waits for an item, for room or for its turn, or is off.
constexpr bool is_idle(slot_state s) noexcept {
    return !has_thread(s) && s != slot_state::await && s != slot_state::runnable;
}

// The last 32 states of a slot, for traced items. The thread that makes the slot enter a state writes. The
// slot's coroutine reads while it runs, when no other thread changes its state.
class state_journal {
  public:
    struct entry {
        std::int64_t since;  // ns
        slot_state state;
    };

    void add(slot_state state, std::int64_t now) noexcept { entries_[count_++ % kept] = {now, state}; }

    std::uint64_t count() const noexcept { return count_; }
    // The number of the oldest entry that is kept.
    std::uint64_t first() const noexcept { return count_ < kept ? 0 : count_ - kept; }
    const entry& operator[](std::uint64_t i) const noexcept { return entries_[i % kept]; }

  private:
    static constexpr std::size_t kept = 32;
    std::uint64_t count_ = 0;
    std::array<entry, kept> entries_{};
};

// How long a slot was in each state, in nanoseconds of the run's clock.
//
// Writers: the slot's coroutine, and, while that is suspended, a thread that hands an item over to it. The
// lock is for readers: a snapshot by any thread settles the open interval at its own instant. A transition
// that was timed before that instant but takes the lock after it counts at that instant. So every interval is
// split exactly at a lap, and no part counts twice or is negative.
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
    // Called before the run begins.
    void write_into(state_journal& journal) noexcept { journal_ = &journal; }

    // Reserves the lock for the calling thread. Called before any thread uses the slot.
    void reserve() noexcept { lock_.reserve(); }

    slot_state state() noexcept {
        const typename lock_type::guard held(lock_);
        return state_;
    }

    // The state, and its beginning, or the last snapshot if that is later.
    std::pair<slot_state, std::int64_t> state_since() noexcept {
        const typename lock_type::guard held(lock_);
        return {state_, since_};
    }

    // For snapshots: all slots of a stage are locked, then settled at one instant.
    void lock() noexcept { holder_ = lock_.enter(); }
    void unlock() noexcept { lock_.leave(holder_); }
    std::array<std::int64_t, slot_states> spent_until(std::int64_t now) noexcept {
        settle(now);
        std::array<std::int64_t, slot_states> spent{};
        for (std::size_t i = 0; i < slot_states; ++i) spent[i] = read_sum(spent_[i]);
        return spent;
    }
    std::int64_t last_transition() const noexcept { return since_; }
    // The state and its beginning, independent of snapshots.
    std::pair<slot_state, std::int64_t> entered() const noexcept { return {state_, entered_}; }

    // Called before the run begins. The states' times sum to the time since `now`.
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
    basic_thread_record<Platform>* holder_ = nullptr;  // the thread that takes a snapshot; under the lock
    slot_state state_ = slot_state::off;
    std::int64_t since_ = 0;    // when the state was entered, or the last snapshot
    std::int64_t entered_ = 0;  // when the state was entered
    std::array<std::int64_t, slot_states> spent_{};
    state_journal* journal_ = nullptr;  // null: no tracing
};

// For how long nothing of a run has moved. Needs no record of its own: if all slots wait, the last movement
// was the last change of state of one of them. A slot whose function has a thread counts as moving, as its
// progress can't be seen from outside.
class stillness {
  public:
    // Adds a slot that is in state `is` since the instant `since`.
    void add(slot_state is, std::int64_t since) noexcept {
        is_at_work_ = is_at_work_ || has_thread(is);
        is_over_ = is_over_ && is == slot_state::off;
        moved(since);
    }
    // Adds another movement, at the instant `at`.
    void moved(std::int64_t at) noexcept { last_ = larger(last_, at); }

    // The time since the last movement; 0 if a slot has a thread, or if all have ended.
    duration until(std::int64_t now) const noexcept {
        return duration(is_at_work_ || is_over_ ? 0 : time_between(last_, now));
    }

  private:
    bool is_at_work_ = false;
    bool is_over_ = true;
    std::int64_t last_ = INT64_MIN;
};

}  // namespace weir::detail

#endif
