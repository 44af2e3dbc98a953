// weir platform, internal: threads sleep until a condition that lives elsewhere may have come true
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_EVENT_COUNT_HPP
#define WEIR_PLATFORM_EVENT_COUNT_HPP

#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::uint32_t

namespace weir::detail {

// A condition variable without a mutex. The waiter announces itself, looks at the condition once
// more, then sleeps; whoever makes the condition true notifies after that:
//
//     waiter                                       notifier
//     W1  ticket = prepare_wait()                  N1  make the condition true
//     W2  condition true? cancel_wait(), done      N2  notify_one()
//     W3  commit_wait(ticket); again from W1
//
// No wake-up is lost (Dekker's pattern). W1 writes `waiters_` and W2 reads the condition; N1 writes
// the condition and N2 reads `waiters_`. If all four are seq_cst they have one order, so W2 sees N1
// or N2 sees W1. In the second case the epoch moves after W1 has read it, and the futex refuses to
// sleep on an old epoch or is woken. The condition's own accesses must therefore be seq_cst, or
// made under one lock on both sides: the lock then orders W1 before N2.
//
// Epoch and waiters are two words, not the halves of one as in folly's EventCount: a futex is 32
// bits wide, and a waiter that comes or goes must not disturb those who sleep. 2^32 notifications
// between a waiter's W1 and W3 would pass unseen.
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

    // Each is answered by exactly one of the two below.
    [[nodiscard]] ticket prepare_wait() noexcept {
        waiters_.fetch_add(1, std::memory_order_seq_cst);  // W1
        // A notifier that saw waiters_ may have moved the epoch before this load; then its
        // condition was true before W2. Pairs with notify(); seq_cst, as W1 and N2 are.
        return ticket(epoch_.load(std::memory_order_seq_cst));
    }

    void cancel_wait() noexcept { waiters_.fetch_sub(1, std::memory_order_seq_cst); }

    // Sleeps until notified after `prepare_wait`, or for `timeout_ns` (negative: no limit).
    // True if notified; the condition is to be looked at again in both cases.
    bool commit_wait(ticket t, std::int64_t timeout_ns = -1) noexcept {
        const std::int64_t start = timeout_ns < 0 ? 0 : Platform::now();
        bool notified = false;
        for (;;) {
            // acquire; pairs with notify(): what made the condition true is seen
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

    // The second half of a notification: the call that wakes a sleeper, if there is one. Uses an address
    // only, of what may be gone by then.
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

    // Wakes a sleeper, and turns back everyone who is between W1 and W3. True if somebody waited.
    // Costs one load when nobody does.
    bool notify_one() noexcept {
        const wake_up wake = turn_back();
        wake();
        return bool(wake);
    }
    bool notify_all() noexcept {
        const bool waited(turn_back());
        if (waited) Platform::wake_all(epoch_);
        return waited;
    }

    // The first half of `notify_one`.
    wake_up turn_back() noexcept {
        if (waiters_.load(std::memory_order_seq_cst) == 0) return {};  // N2
        epoch_.fetch_add(1, std::memory_order_seq_cst);
        return wake_up(&epoch_);
    }
};

using event_count = basic_event_count<>;

}  // namespace weir::detail

#endif
