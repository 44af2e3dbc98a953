// weir platform, internal: a lock for critical sections of a few dozen instructions
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SPIN_LOCK_HPP
#define WEIR_PLATFORM_SPIN_LOCK_HPP

#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::uint32_t

namespace weir::detail {

// Test-and-test-and-set with bounded spinning: after `spins` looks the thread gives its core away,
// because the holder may have been preempted; after `yields` of that it sleeps 50 us a time, so that
// a holder of lower priority gets to run at all.
//
// One exchange to lock and a plain store to unlock: half the price of a futex mutex when nobody
// contends, which is the case that counts. Meets BasicLockable and try_lock.
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
        // relaxed: a look that spares others the exchange, which is what takes the lock. That one is an
        // acquire; pairs with the release in unlock()
        return locked_.load(std::memory_order_relaxed) == 0 &&
               locked_.exchange(1, std::memory_order_acquire) == 0;
    }

    // release; pairs with the acquire in lock() and try_lock()
    void unlock() noexcept { locked_.store(0, std::memory_order_release); }

    // What whoever waits does in between two looks, the first of which is round 0; for who has the lock, and
    // waits for something else, too.
    void wait_between_looks(int round) noexcept {
        constexpr int spins = Platform::looks_before_yield;
        constexpr int yields = Platform::yields_before_sleep;
        if (round < spins) {
            Platform::pause();
        } else if (round < spins + yields) {
            Platform::yield();
        } else {
            if constexpr (requires { Platform::doubt_wait(); }) {
                if (round == spins + yields + 1000) Platform::doubt_wait();
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
