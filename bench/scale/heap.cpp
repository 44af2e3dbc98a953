#include "heap.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> in_use{0};

// In front of each block: its size.
constexpr std::size_t header = alignof(std::max_align_t);
static_assert(header >= sizeof(std::size_t));

void* allocate(std::size_t size) {
    void* const block = std::malloc(header + size);
    if (block == nullptr) throw std::bad_alloc();
    *static_cast<std::size_t*>(block) = size;
    in_use.fetch_add(size, std::memory_order_relaxed);
    return static_cast<char*>(block) + header;
}

void release(void* address) noexcept {
    if (address == nullptr) return;
    void* const block = static_cast<char*>(address) - header;
    in_use.fetch_sub(*static_cast<std::size_t*>(block), std::memory_order_relaxed);
    std::free(block);
}

// With more alignment: a multiple of it in front, which begins with the size.
void* allocate(std::size_t size, std::size_t alignment) {
    const std::size_t whole = alignment + (size + alignment - 1) / alignment * alignment;
    void* const block = std::aligned_alloc(alignment, whole);
    if (block == nullptr) throw std::bad_alloc();
    *static_cast<std::size_t*>(block) = size;
    in_use.fetch_add(size, std::memory_order_relaxed);
    return static_cast<char*>(block) + alignment;
}

void release(void* address, std::size_t alignment) noexcept {
    if (address == nullptr) return;
    void* const block = static_cast<char*>(address) - alignment;
    in_use.fetch_sub(*static_cast<std::size_t*>(block), std::memory_order_relaxed);
    std::free(block);
}

}  // namespace

std::size_t heap::bytes_in_use() noexcept { return in_use.load(std::memory_order_relaxed); }

// The other forms, of arrays and without exceptions, call these.
void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* address) noexcept { release(address); }
void operator delete(void* address, std::size_t) noexcept { release(address); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* address, std::align_val_t alignment) noexcept {
    release(address, static_cast<std::size_t>(alignment));
}
void operator delete(void* address, std::size_t, std::align_val_t alignment) noexcept {
    release(address, static_cast<std::size_t>(alignment));
}
