// weir platform, internal: how threads wait: a spin lock, a parker for one thread, an event count for many
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PARKING_HPP
#define WEIR_PLATFORM_PARKING_HPP

#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::uint32_t

namespace weir::detail {

// A test-and-test-and-set lock with bounded spinning: after `spins` attempts the thread yields, because the
// holder may have been preempted; after `yields` more it sleeps for 50 us at a time, so that a holder of
// lower priority can run.
//
// For critical sections of a few dozen instructions. Without contention, the common case, a lock and unlock
// take one exchange and one store: half the cost of a mutex with a futex. Meets the requirements Lockable.
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

    // The pause after attempt number `round`, counted from 0. The holder of the lock may also use this
    // function to wait for another event.
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
            // relaxed: the exchange below takes the lock
            while (locked_.load(std::memory_order_relaxed) != 0) wait_between_looks(round++);
            // acquire; pairs with the release in unlock()
        } while (locked_.exchange(1, std::memory_order_acquire) != 0);
    }
};

using spin_lock = basic_spin_lock<>;

// A one-shot flag. One thread, the owner of the flag, can sleep until other threads set the flag or wake the
// owner.
//
// | bit | meaning                                               |
// |-----|-------------------------------------------------------|
// | 1   | the owner sleeps, or is about to                      |
// | 2   | set; never cleared                                    |
// | 4   | poked: the current or the next wait returns           |
//
// `set` may wake an owner that destroys the flag at once: the last access of `set` is the read-modify-write;
// the wake-up after it uses only the address. `poke` may be called after `set`. So the caller of `poke` must
// know that the flag still exists: for instance, under a lock that the owner takes before it destroys the
// flag.
template <class Platform = standard_platform>
class basic_parker {
    typename Platform::template atomic<std::uint32_t> word_{0};
    static constexpr std::uint32_t asleep = 1, is_done = 2, poked = 4;

  public:
    basic_parker() noexcept = default;
    basic_parker(const basic_parker&) = delete;
    basic_parker& operator=(const basic_parker&) = delete;

    // acquire; pairs with the release in set(): sees the setter's earlier writes
    bool is_set() const noexcept { return (word_.load(std::memory_order_acquire) & is_done) != 0; }

    // Whether the next wait returns at once. acquire; pairs with set() and poke(): sees their callers'
    // earlier writes
    bool is_set_or_poked() const noexcept {
        return (word_.load(std::memory_order_acquire) & (is_done | poked)) != 0;
    }

    void set() noexcept {
        // acq_rel; pairs with is_set() and wait(): the owner sees the caller's earlier writes
        if ((word_.fetch_or(is_done, std::memory_order_acq_rel) & asleep) != 0) {
            Platform::wake_all(word_);
        }
    }

    void poke() noexcept {
        // acq_rel; pairs with wait(), as in set()
        if ((word_.fetch_or(poked, std::memory_order_acq_rel) & asleep) != 0) {
            Platform::wake_all(word_);
        }
    }

    // Called by the owner. Sleeps until set or poked, or for `timeout_ns` (negative: no limit), and clears a
    // poke. True if set.
    bool wait(std::int64_t timeout_ns = -1) noexcept {
        const std::int64_t start = timeout_ns < 0 ? 0 : Platform::now();
        // relaxed: only delays the compare-exchange
        for (int i = 0; i < Platform::looks_before_sleep && word_.load(std::memory_order_relaxed) == 0; ++i) {
            Platform::pause();
        }
        std::uint32_t seen = 0;
        // acq_rel; pairs with set() and poke(): they see that the owner sleeps, or the owner sees their bit
        if (word_.compare_exchange_strong(seen, asleep, std::memory_order_acq_rel)) {
            while (word_.load(std::memory_order_acquire) == asleep) {
                std::int64_t left = -1;
                if (timeout_ns >= 0) {
                    left = timeout_ns - (Platform::now() - start);
                    if (left <= 0) break;
                }
                Platform::wait(word_, asleep, left);
            }
        }
        // acquire; pairs with set() and poke(): sees their callers' earlier writes
        return (word_.fetch_and(is_done, std::memory_order_acq_rel) & is_done) != 0;
    }
};

using parker = basic_parker<>;

// A condition variable without a mutex. The waiter announces itself, checks the condition once more, then
// sleeps. The notifier makes the condition true, then notifies:
//
//     waiter                                       notifier
//     W1  ticket = prepare_wait()                  N1  make the condition true
//     W2  condition true? cancel_wait(), done      N2  notify_one()
//     W3  commit_wait(ticket); again from W1
//
// No wake-up is lost (Dekker's pattern). W1 writes `waiters_` and W2 reads the condition; N1 writes the
// condition and N2 reads `waiters_`. If all four are seq_cst, they have one total order, so W2 sees N1 or N2
// sees W1. In the second case N2 changes the epoch. If W1 has read the old epoch, W3 refuses to sleep on it,
// or is woken; if W1 reads the new epoch, W2 sees N1. The accesses to the condition must therefore be
// seq_cst, or made under one lock on both sides: then the lock orders N1 before W2, or W1 before N2.
//
// Epoch and number of waiters are two words; in folly's EventCount they are two halves of one word. A futex
// has only 32 bits, and a waiter that comes or goes must not disturb sleeping ones. 2^32 notifications
// between a waiter's W1 and W3 would go unnoticed.
template <class Platform = standard_platform>
class basic_event_count {
    typename Platform::template atomic<std::uint32_t> epoch_{0};
    typename Platform::template atomic<std::uint32_t> waiters_{0};

  public:
    class ticket {
        friend basic_event_count;
        explicit ticket(std::uint32_t epoch) noexcept : epoch_(epoch) {}
        std::uint32_t epoch_;
    };

    basic_event_count() noexcept = default;
    basic_event_count(const basic_event_count&) = delete;
    basic_event_count& operator=(const basic_event_count&) = delete;

    // Each call is followed by one call of `cancel_wait` or `commit_wait`.
    [[nodiscard]] ticket prepare_wait() noexcept {
        waiters_.fetch_add(1, std::memory_order_seq_cst);  // W1
        // A notifier that saw waiters_ may have changed the epoch before this load; then the condition was
        // true before W2. Pairs with prepare_notify(); seq_cst, as W1 and N2 are.
        return ticket(epoch_.load(std::memory_order_seq_cst));
    }

    void cancel_wait() noexcept { waiters_.fetch_sub(1, std::memory_order_seq_cst); }

    // Sleeps until notified after `prepare_wait`, or for `timeout_ns` (negative: no limit).
    // True if notified. The caller checks the condition again in both cases.
    bool commit_wait(ticket t, std::int64_t timeout_ns = -1) noexcept {
        const std::int64_t start = timeout_ns < 0 ? 0 : Platform::now();
        bool notified = false;
        for (;;) {
            // acquire; pairs with prepare_notify(): sees the writes that made the condition true
            notified = epoch_.load(std::memory_order_acquire) != t.epoch_;
            if (notified) break;
            std::int64_t left = -1;
            if (timeout_ns >= 0) {
                left = timeout_ns - (Platform::now() - start);
                if (left <= 0) break;
            }
            Platform::wait(epoch_, t.epoch_, left);
        }
        waiters_.fetch_sub(1, std::memory_order_seq_cst);
        return notified;
    }

    // The second half of a notification: a call of this object wakes a sleeper, if there is one. The call
    // uses only the address of the event count, which may be destroyed by then. Converted to bool: whether a
    // thread waited.
    class [[nodiscard("call it, or nobody is woken")]] wake_up {
        friend basic_event_count;
        explicit wake_up(typename Platform::template atomic<std::uint32_t>* epoch) noexcept : epoch_(epoch) {}
        typename Platform::template atomic<std::uint32_t>* epoch_;

      public:
        wake_up() noexcept : epoch_(nullptr) {}
        explicit operator bool() const noexcept { return epoch_ != nullptr; }
        void operator()() const noexcept {
            if (epoch_ != nullptr) Platform::wake_one(*epoch_);
        }
    };

    // Wake one sleeper, or all, and keep all waiters between W1 and W3 from sleeping. True if a thread
    // waited. If none waits, cost one load.
    bool notify_one() noexcept {
        const wake_up wake = prepare_notify();
        wake();
        return bool(wake);
    }
    bool notify_all() noexcept {
        const bool waited(prepare_notify());
        if (waited) Platform::wake_all(epoch_);
        return waited;
    }

    // The first half of `notify_one`: keeps waiters between W1 and W3 from sleeping. The call of the result
    // wakes a sleeper.
    wake_up prepare_notify() noexcept {
        if (waiters_.load(std::memory_order_seq_cst) == 0) return {};  // N2
        epoch_.fetch_add(1, std::memory_order_seq_cst);
        return wake_up(&epoch_);
    }
};

using event_count = basic_event_count<>;

}  // namespace weir::detail

#endif
