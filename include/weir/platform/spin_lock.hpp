// weir platform, internal: a lock for critical sections of a few dozen instructions
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SPIN_LOCK_HPP
#define WEIR_PLATFORM_SPIN_LOCK_HPP

#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::uint32_t

namespace weir::detail {

// A test-and-test-and-set lock with bounded spinning: after `spins` attempts the thread yields, because the
// holder may have been preempted; after `yields` more it sleeps for 50 us at a time, so that a holder of
// lower priority can run.
//
// One exchange to lock and a plain store to unlock: half the cost of a futex mutex without contention, which
// is the common case. Meets the requirements Lockable.
template <class Platform = standard_platform>
class basic_spin_lock {
    typename Platform::template atomic<std::uint32_t> locked_{0};

  public:
    basic_spin_lock() noexcept = default;
    basic_spin_lock(const basic_spin_lock&) = delete;
    basic_spin_lock& operator=(const basic_spin_lock&) = delete;

    void lock() noexcept {
        // acquire; pairs with the release in unlock()
        if (locked_.exchange(1, std::memory_order_acquire) != 0) lock_contended();
    }

    bool try_lock() noexcept {
        // relaxed: only avoids an exchange that would fail. The exchange takes the lock: acquire; pairs with
        // the release in unlock()
        return locked_.load(std::memory_order_relaxed) == 0 &&
               locked_.exchange(1, std::memory_order_acquire) == 0;
    }

    // release; pairs with the acquire in lock() and try_lock()
    void unlock() noexcept { locked_.store(0, std::memory_order_release); }

    // The pause between two attempts, counted from round 0. Also for the holder of the lock, when it waits
    // for something else.
    void wait_between_looks(int round) noexcept {
        constexpr int spins = Platform::looks_before_yield;
        constexpr int yields = Platform::yields_before_sleep;
        if (round < spins) {
            Platform::pause();
        } else if (round < spins + yields) {
            Platform::yield();
        } else {
            if constexpr (requires { Platform::check_long_wait(); }) {
                if (round == spins + yields + 1000) Platform::check_long_wait();
            }
            Platform::wait(locked_, 1, 50'000);
        }
    }

  private:
    WEIR_NOINLINE void lock_contended() noexcept {
        int round = 0;
        do {
            while (locked_.load(std::memory_order_relaxed) != 0) wait_between_looks(round++);
            // acquire; pairs with the release in unlock()
        } while (locked_.exchange(1, std::memory_order_acquire) != 0);
    }
};

using spin_lock = basic_spin_lock<>;

}  // namespace weir::detail

#endif
