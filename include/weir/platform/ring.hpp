// weir platform, internal: places for items, numbered without end, in one block of memory
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_RING_HPP
#define WEIR_PLATFORM_RING_HPP

#include <bit>      // for std::bit_ceil
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <limits>   // for std::numeric_limits
#include <memory>   // for std::allocator, std::construct_at
#include <utility>  // for std::move, std::swap

namespace weir::detail {

// Place `i` is that of the i-th item ever, and of any whose number differs by a multiple of `places()`.
// Whoever uses it knows which places are taken: the ring destroys nothing by itself. T moves without
// throwing. Allocates in its constructor only.
template <class T>
class ring {
  public:
    // For at least `capacity` items.
    explicit ring(std::size_t capacity) : places_(places_for(capacity)) {
        if (places_ != 0) block_ = std::allocator<T>().allocate(places_);
    }
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;
    ~ring() {
        if (block_ != nullptr) std::allocator<T>().deallocate(block_, places_);
    }

    std::size_t places() const noexcept { return places_; }

    void put(std::uint64_t i, T&& item) noexcept { std::construct_at(at(i), std::move(item)); }

    // Moves the item out to where nothing is constructed yet.
    void take(std::uint64_t i, T* into) noexcept {
        std::construct_at(into, std::move(*at(i)));
        destroy(i);
    }

    // The same to the same place of another ring.
    void move(std::uint64_t i, ring& into) noexcept { take(i, into.at(i)); }

    const T& operator[](std::uint64_t i) noexcept { return *at(i); }

    void destroy(std::uint64_t i) noexcept { std::destroy_at(at(i)); }

    void swap(ring& other) noexcept {
        std::swap(block_, other.block_);
        std::swap(places_, other.places_);
    }

  private:
    // A power of two; what is too large for one is too large for memory, too.
    static std::size_t places_for(std::size_t capacity) noexcept {
        constexpr std::size_t largest = std::numeric_limits<std::size_t>::max() / 2 + 1;
        return capacity == 0 || capacity > largest ? capacity : std::bit_ceil(capacity);
    }

    T* at(std::uint64_t i) noexcept { return block_ + (static_cast<std::size_t>(i) & (places_ - 1)); }

    T* block_ = nullptr;
    std::size_t places_;
};

}  // namespace weir::detail

#endif
