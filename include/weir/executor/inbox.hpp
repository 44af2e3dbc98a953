// weir executor, internal: a first-in-first-out queue of coroutine addresses that any thread may use
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_INBOX_HPP
#define WEIR_EXECUTOR_INBOX_HPP

#include <weir/executor/ready_queue.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/spin_lock.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <mutex>      // for std::lock_guard

namespace weir::detail {

// A `ready_queue` under a spin lock.
//
// `size_` is written under the lock and read without. The write in `push` and the read in `empty`
// are seq_cst: who pushes and then looks for sleepers, and who declares itself asleep and then asks
// `empty`, can't miss each other (see event_count.hpp).
template <class Platform = standard_platform>
class basic_inbox {
    basic_spin_lock<Platform> lock_;
    typename Platform::template atomic<std::size_t> size_{0};
    ready_queue queue_{256};

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
        queue_.push_back(std::coroutine_handle<>::from_address(item));
        size_.store(queue_.size(), std::memory_order_seq_cst);
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
        const std::size_t n = queue_.size();
        const std::size_t take = detail::smaller(n - n / 2, most);
        for (std::size_t i = 0; i < take; ++i) out[i] = queue_.take_front().address();
        // relaxed: who still reads the size from before looks in vain, under the lock
        size_.store(n - take, std::memory_order_relaxed);
        return take;
    }
};

WEIR_COMPILED(class basic_inbox<standard_platform>);

}  // namespace weir::detail

#endif
