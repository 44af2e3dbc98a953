// weir floor 0: a bounded first-in first-out buffer of objects in one block of memory
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_RING_HPP
#define WEIR_DETAIL_RING_HPP

#include <cstddef>  // for std::size_t
#include <memory>   // for std::allocator, std::construct_at
#include <utility>  // for std::move, std::swap

namespace weir::detail {

// Allocates in its constructor only. T moves without throwing.
template <class T>
class ring {
  public:
    explicit ring(std::size_t places) : places_(places) {
        if (places != 0) block_ = std::allocator<T>().allocate(places);
    }
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;
    ~ring() {
        while (size_ != 0) pop();
        if (block_ != nullptr) std::allocator<T>().deallocate(block_, places_);
    }

    std::size_t places() const noexcept { return places_; }
    std::size_t size() const noexcept { return size_; }

    void push(T&& item) noexcept {
        std::construct_at(block_ + wrap(first_ + size_), std::move(item));
        ++size_;
    }

    T& front() noexcept { return block_[first_]; }

    void pop() noexcept {
        std::destroy_at(block_ + first_);
        first_ = wrap(first_ + 1);
        --size_;
    }

    void swap(ring& other) noexcept {
        std::swap(block_, other.block_);
        std::swap(places_, other.places_);
        std::swap(first_, other.first_);
        std::swap(size_, other.size_);
    }

  private:
    std::size_t wrap(std::size_t i) const noexcept { return i >= places_ ? i - places_ : i; }

    T* block_ = nullptr;
    std::size_t places_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace weir::detail

#endif
