// weir executor, internal: the coroutines that one thread has to run, first come, first served
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_READY_QUEUE_HPP
#define WEIR_EXECUTOR_READY_QUEUE_HPP

#include <weir/platform/requirements.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

// A ring that doubles when it is full and never shrinks, so that it stops allocating; std::deque goes on
// for ever, a block for each so many handles that pass.
class ready_queue {
    std::vector<std::coroutine_handle<>> ring_;
    std::size_t head_ = 0;
    std::size_t size_ = 0;

  public:
    // `places`: for so many nothing is allocated later; a power of two.
    explicit ready_queue(std::size_t places = 64) : ring_(places) {}

    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

    // The i-th from the front.
    std::coroutine_handle<>& operator[](std::size_t i) noexcept { return ring_[place(i)]; }
    std::coroutine_handle<>& back() noexcept { return (*this)[size_ - 1]; }

    void push_back(std::coroutine_handle<> h) {
        if (size_ == ring_.size()) grow();
        ring_[place(size_)] = h;
        ++size_;
    }

    // The first, which is there.
    std::coroutine_handle<> take_front() noexcept {
        const std::coroutine_handle<> first = ring_[head_];
        head_ = place(1);
        --size_;
        return first;
    }

  private:
    // The size of the ring is a power of two.
    std::size_t place(std::size_t i) const noexcept { return (head_ + i) & (ring_.size() - 1); }

    void grow() {
        std::vector<std::coroutine_handle<>> larger(2 * ring_.size());
        for (std::size_t i = 0; i < size_; ++i) larger[i] = (*this)[i];
        ring_ = std::move(larger);
        head_ = 0;
    }
};

}  // namespace weir::detail

#endif
