// Counts what a program has from the heap: replaces operator new. For one source of a program alone, and
// not with a sanitizer, which has forms of its own that don't call these.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_COUNTED_HEAP_HPP
#define WEIR_TESTS_SUPPORT_COUNTED_HEAP_HPP

#include <weir/platform/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace counted_heap {

inline std::atomic<std::uint64_t> counted{0};
inline std::atomic<std::size_t> in_use{0};
// While it is true, nothing can be allocated.
inline std::atomic<bool> is_exhausted{false};

// How many times something was allocated, by any thread.
inline std::uint64_t allocations() noexcept { return counted.load(std::memory_order_relaxed); }

// As asked for, without what the allocator adds.
inline std::size_t bytes_in_use() noexcept { return in_use.load(std::memory_order_relaxed); }

// In front of each block, within `alignment` bytes: its size.
inline constexpr std::size_t least_alignment = alignof(std::max_align_t);
static_assert(least_alignment >= sizeof(std::size_t));

inline void* allocate(std::size_t size, std::size_t alignment) {
    const std::size_t whole = alignment + (size + alignment - 1) / alignment * alignment;
    void* const block = is_exhausted ? nullptr : std::aligned_alloc(alignment, whole);
    if (block == nullptr) throw std::bad_alloc();
    *static_cast<std::size_t*>(block) = size;
    counted.fetch_add(1, std::memory_order_relaxed);
    in_use.fetch_add(size, std::memory_order_relaxed);
    return static_cast<char*>(block) + alignment;
}

// Not inlined: g++ 12 takes memory of operator new for an object of its own, and warns of what is in front of it.
WEIR_NOINLINE inline void release(void* address, std::size_t alignment) noexcept {
    if (address == nullptr) return;
    void* const block = static_cast<char*>(address) - alignment;
    in_use.fetch_sub(*static_cast<std::size_t*>(block), std::memory_order_relaxed);
    std::free(block);
}

}  // namespace counted_heap

// The other forms, of arrays and without exceptions, call these.
void* operator new(std::size_t size) { return counted_heap::allocate(size, counted_heap::least_alignment); }
void operator delete(void* address) noexcept {
    counted_heap::release(address, counted_heap::least_alignment);
}
void operator delete(void* address, std::size_t) noexcept {
    counted_heap::release(address, counted_heap::least_alignment);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return counted_heap::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* address, std::align_val_t alignment) noexcept {
    counted_heap::release(address, static_cast<std::size_t>(alignment));
}
void operator delete(void* address, std::size_t, std::align_val_t alignment) noexcept {
    counted_heap::release(address, static_cast<std::size_t>(alignment));
}

#endif
