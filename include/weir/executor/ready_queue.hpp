// weir executor, internal: first-in-first-out queues of coroutine handles, for one thread and for several
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_READY_QUEUE_HPP
#define WEIR_EXECUTOR_READY_QUEUE_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <mutex>      // for std::lock_guard
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

// A first-in-first-out queue for one thread: a ring that doubles when full and never shrinks, so it stops
// allocating. (std::deque allocates for ever: a new block after a fixed number of handles.)
class ready_queue {
    std::vector<std::coroutine_handle<>> ring_;
    std::size_t head_ = 0;  // the place of the first handle
    std::size_t size_ = 0;

  public:
    // `places`: the number of handles that fit without further allocation; a power of two.
    explicit ready_queue(std::size_t places = 64) : ring_(places) {}

    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

    std::coroutine_handle<>& operator[](std::size_t i) noexcept { return ring_[place(i)]; }
    std::coroutine_handle<>& back() noexcept { return (*this)[size_ - 1]; }

    void push_back(std::coroutine_handle<> h) {
        if (size_ == ring_.size()) grow();
        ring_[place(size_)] = h;
        ++size_;
    }

    // Called only if the queue is not empty.
    std::coroutine_handle<> take_front() noexcept {
        const std::coroutine_handle<> first = ring_[head_];
        head_ = place(1);
        --size_;
        return first;
    }

  private:
    std::size_t place(std::size_t i) const noexcept { return (head_ + i) & (ring_.size() - 1); }

    void grow() {
        std::vector<std::coroutine_handle<>> larger(2 * ring_.size());
        for (std::size_t i = 0; i < size_; ++i) larger[i] = (*this)[i];
        ring_ = std::move(larger);
        head_ = 0;
    }
};

// A `ready_queue` under a spin lock, for any number of threads. A `thread_pool` has one for coroutines that
// other threads than its workers post; a `blocking_pool` has one for all coroutines.
//
// `size_` is written under the lock and read without. The store in `push` and the load in `empty` are
// seq_cst: a thread pushes and then looks for sleepers; a worker announces its sleep and then calls `empty`.
// One of the two sees the other's store (see basic_event_count in platform/parking.hpp).
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
    // Calls `then()` under the lock, before any thread can pop the item, and returns its result.
    template <class Then>
    auto push(void* item, Then then) {
        std::lock_guard guard(lock_);
        queue_.push_back(std::coroutine_handle<>::from_address(item));
        size_.store(queue_.size(), std::memory_order_seq_cst);
        return then();
    }

    // Takes the oldest item; null if empty. If empty, costs one load.
    void* pop() noexcept {
        void* item = nullptr;
        pop(&item, 1);
        return item;
    }

    // Moves the oldest half of the items, rounded up, but at most `most`, to `out`. Returns their number.
    std::size_t pop(void** out, std::size_t most) noexcept {
        if (empty()) return 0;
        std::lock_guard guard(lock_);
        const std::size_t n = queue_.size();
        const std::size_t take = detail::smaller(n - n / 2, most);
        for (std::size_t i = 0; i < take; ++i) out[i] = queue_.take_front().address();
        // relaxed: a thread that reads the old, larger size takes the lock, and there reads the size of
        // `queue_`
        size_.store(n - take, std::memory_order_relaxed);
        return take;
    }
};

WEIR_COMPILED(class basic_inbox<standard_platform>);

}  // namespace weir::detail

#endif
