// weir platform, internal: a lock of channels, pool workers and statistics, cheap while one thread uses it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_BIASED_LOCK_HPP
#define WEIR_PLATFORM_BIASED_LOCK_HPP

#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_record.hpp>

#include <cstdint>  // for std::uint32_t

namespace weir::detail {

// A spin lock with a reservation. A thread that takes the lock many times in a row reserves it. From then on
// this thread, the owner, enters and leaves by plain stores to its thread record, without a read-modify-write
// (6 ns each). Another thread takes the member `lock_`, revokes the reservation, and waits until the owner is
// not inside. A revocation takes a heavy fence (1.5 us), which acts on all threads of the process. So each
// revocation doubles the number of times in a row that the next reservation needs, up to 2^20.
//
// Mutual exclusion: the owner writes `inside`, then reads `owner_`; the revoking thread writes `owner_`, then
// reads `inside`. With a full fence in between on both sides, one of them sees the other's write (Dekker's
// pattern); the light and the heavy fence together act as these fences. Each thread writes only its own
// `inside`, so a late attempt of a former owner disturbs no other thread.
//
// `Level`: the entry of the thread record that the lock uses. Locks that a thread holds at the same time
// should have different levels: the second lock of a level is taken through its spin lock.
//
// Source: Kawachiya, Koseki, Onodera, "Lock reservation" (OOPSLA 2002); Dice, Moir, Scherer, "Quickly
// reacquirable locks" (2006); the pair of fences: Goldblatt, P1202, "Asymmetric fences".
template <class Platform = standard_platform, int Level = 0>
class basic_biased_lock {
    using record = basic_thread_record<Platform>;

  public:
    basic_biased_lock() noexcept = default;
    basic_biased_lock(const basic_biased_lock&) = delete;
    basic_biased_lock& operator=(const basic_biased_lock&) = delete;

    // Reserves the lock for the calling thread, if the platform has heavy fences. Called before any thread
    // uses the lock. relaxed: the program orders the store when it passes the lock's object to other threads
    void reserve() noexcept {
        if (Platform::has_heavy_fence()) owner_.store(record::acquire(), std::memory_order_relaxed);
    }

    // Holds the lock. Constructed and destroyed on one thread.
    class [[nodiscard]] guard {
      public:
        explicit guard(basic_biased_lock& lock) noexcept : lock_(lock), owner_(lock.enter()) {}
        // `me`: the calling thread's record; null: the thread has none.
        WEIR_ALWAYS_INLINE guard(basic_biased_lock& lock, record* me) noexcept
            : lock_(lock), owner_(lock.enter(me)) {}
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;
        WEIR_ALWAYS_INLINE ~guard() { lock_.leave(owner_); }

      private:
        basic_biased_lock& lock_;
        record* owner_;
    };

    // For callers that can't use a guard. Returns the argument for `leave`: the calling thread's record if
    // the thread is the owner; null if it took the spin lock. Not inlined: a coroutine would keep the
    // thread-local address of the record when it continues on another thread.
    WEIR_NOINLINE record* enter() noexcept { return enter(record::mine()); }
    // `me`: the calling thread's record; null: the thread has none.
    WEIR_ALWAYS_INLINE record* enter(record* me) noexcept { return enter_reserved(me) ? me : lock(me); }
    // Enters only if this thread has reserved the lock, and holds no other reserved lock of this level; then
    // `leave` takes `me`. Otherwise returns false. relaxed: only this thread writes `me->inside`. The load of
    // `owner_` behind the fence decides, and its result is only compared with `me`
    WEIR_ALWAYS_INLINE bool enter_reserved(record* me) noexcept {
        if (me == nullptr || me != owner_.load(std::memory_order_relaxed) ||
            me->inside[Level].load(std::memory_order_relaxed) != nullptr) {
            return false;
        }
        // release; pairs with the acquire in revoke() of a lock that this thread left before: revoke() may
        // read this value instead of the null of leave(), and sees what this thread wrote under that lock
        me->inside[Level].store(this, std::memory_order_release);
        Platform::light_fence();  // pairs with the heavy one in revoke()
        if (me == owner_.load(std::memory_order_relaxed)) return true;
        me->inside[Level].store(nullptr, std::memory_order_release);
        return false;
    }
    WEIR_ALWAYS_INLINE void leave(record* owner) noexcept {
        if (owner != nullptr) {
            // release; pairs with the acquire in revoke(): the next holder sees what the owner wrote
            owner->inside[Level].store(nullptr, std::memory_order_release);
        } else {
            lock_.unlock();
        }
    }

  private:
    static constexpr std::uint32_t first_streak = Platform::streak_before_reservation;
    static constexpr std::uint32_t longest_streak = 1U << 20;

    WEIR_NOINLINE record* lock(record* me) noexcept {
        lock_.lock();
        // relaxed: written under the spin lock only
        record* const owner = owner_.load(std::memory_order_relaxed);
        if (owner != nullptr) revoke(owner, me);
        if (me == nullptr || me != last_) {
            streak_ = 0;
            last_ = me != nullptr ? me : record::acquire();
        } else if (++streak_ >= needed_ && Platform::has_heavy_fence()) {
            // relaxed: without the spin lock, a thread only compares `owner_` with its own record
            owner_.store(me, std::memory_order_relaxed);
        }
        return nullptr;
    }

    // relaxed: the heavy fence orders the store; if the caller is the owner itself, no order is needed
    void revoke(record* owner, record* me) noexcept {
        owner_.store(nullptr, std::memory_order_relaxed);
        streak_ = 0;
        if (owner == me) return;
        if (needed_ < longest_streak) needed_ *= 2;
        Platform::heavy_fence();  // pairs with the light one in enter_reserved()
        // acquire; pairs with the release in leave() and in enter_reserved(), also of other locks: the caller
        // sees what the owner wrote under this lock
        for (int round = 0; owner->inside[Level].load(std::memory_order_acquire) == this; ++round) {
            lock_.wait_between_looks(round);
        }
    }

    typename Platform::template atomic<record*> owner_{nullptr};
    basic_spin_lock<Platform> lock_;
    // The following members are guarded by the spin lock.
    std::uint32_t streak_ = 0;             // how often in a row `last_` has taken the spin lock, minus 1
    std::uint32_t needed_ = first_streak;  // the streak that reserves the lock
    record* last_ = nullptr;               // the thread that took the spin lock last
};

}  // namespace weir::detail

#endif
