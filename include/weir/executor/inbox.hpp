// weir executor, internal: a first-in-first-out queue of coroutine addresses that any thread may use
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_INBOX_HPP
#define WEIR_EXECUTOR_INBOX_HPP

#include <weir/platform/platform.hpp>
#include <weir/platform/spin_lock.hpp>

#include <algorithm>  // for std::min
#include <cstddef>    // for std::size_t
#include <memory>     // for std::unique_ptr
#include <mutex>      // for std::lock_guard
#include <utility>    // for std::move

namespace weir::detail {

// A ring under a spin lock; doubles when full and never shrinks, so that it stops allocating.
//
// `size_` is written under the lock and read without. The write in `push` and the read in `empty`
// are seq_cst: who pushes and then looks for sleepers, and who declares itself asleep and then asks
// `empty`, can't miss each other (see event_count.hpp).
template <class Platform = standard_platform>
class basic_inbox {
    basic_spin_lock<Platform> lock_;
    typename Platform::template atomic<std::size_t> size_{0};
    std::size_t head_ = 0;
    std::size_t capacity_ = 256;  // a power of two
    std::unique_ptr<void*[]> ring_{new void*[256]};

  public:
    basic_inbox() = default;
    basic_inbox(const basic_inbox&) = delete;
    basic_inbox& operator=(const basic_inbox&) = delete;

    bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }

    void push(void* item) {
        push(item, [] {});
    }
    // Returns what `then()` gives, which is called before anybody can pop the item: under the lock.
    template <class Then>
    auto push(void* item, Then then) {
        std::lock_guard guard(lock_);
        const std::size_t n = size_.load(std::memory_order_relaxed);
        if (n == capacity_) grow();
        ring_[(head_ + n) & (capacity_ - 1)] = item;
        size_.store(n + 1, std::memory_order_seq_cst);
        return then();
    }

    // The oldest, or null. Costs one load when there is none.
    void* pop() noexcept {
        void* item = nullptr;
        pop(&item, 1);
        return item;
    }

    // Takes the oldest half, at least one and at most `most`, into `out`; returns how many.
    std::size_t pop(void** out, std::size_t most) noexcept {
        if (empty()) return 0;
        std::lock_guard guard(lock_);
        const std::size_t n = size_.load(std::memory_order_relaxed);
        const std::size_t take = std::min(n - n / 2, most);
        for (std::size_t i = 0; i < take; ++i) out[i] = ring_[(head_ + i) & (capacity_ - 1)];
        head_ = (head_ + take) & (capacity_ - 1);
        size_.store(n - take, std::memory_order_relaxed);
        return take;
    }

  private:
    void grow() {
        std::unique_ptr<void*[]> bigger(new void*[2 * capacity_]);
        for (std::size_t i = 0; i < capacity_; ++i) bigger[i] = ring_[(head_ + i) & (capacity_ - 1)];
        ring_ = std::move(bigger);
        capacity_ *= 2;
        head_ = 0;
    }
};

}  // namespace weir::detail

#endif
