// weir task, internal: bodies of the functions of task/frame_pool.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_FRAME_POOL_IPP
#define WEIR_TASK_FRAME_POOL_IPP

#include <weir/task/frame_pool.hpp>

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <mutex>    // for std::lock_guard
#include <new>      // for placement new
#include <utility>  // for std::exchange

namespace weir::detail {

struct frame_slabs::slab {
    block* free = nullptr;     // blocks that were given back
    std::uint32_t used = 0;    // blocks in use
    std::uint32_t fresh;       // blocks at the end of the slab that were never in use
    void* first_fresh;         // where the first of these will be
    slab* next = nullptr;      // the next slab in the list of slabs with free blocks
    slab* previous = nullptr;  // the previous slab in this list
    process_of_origin born{};

    bool is_full() const noexcept { return free == nullptr && fresh == 0; }
    // The bytes of a slab without those of its blocks.
    static constexpr std::size_t extra() { return sizeof(slab) + before_block + most_frame_alignment; }
};

WEIR_INLINE auto frame_slabs::take(std::size_t stride, bool aligned, std::uint32_t most) -> chain {
    // relaxed: a hint; under the lock the pointer is read again
    if (open_.load(std::memory_order_relaxed) != nullptr) {
        const std::lock_guard guard(lock_);
        if (const chain some = cut(stride, most); some.first != nullptr) return some;
    }
    const std::int64_t share = in_use_.load(std::memory_order_relaxed) / blocks_per_new;  // blocks of a slab
    if (share < fewest) {
        block* const one = from_heap(stride, aligned);
        count(1);
        return {one, 1};
    }
    slab* const made =
        make_slab(stride, smaller(static_cast<std::size_t>(share), (most_bytes - slab::extra()) / stride));
    const std::lock_guard guard(lock_);
    open(*made);
    return cut(stride, most);
}

WEIR_INLINE void frame_slabs::give(block* all) noexcept {
    block* alone = nullptr;  // a list of blocks with an allocation each
    slab* unused = nullptr;  // a list of slabs to free
    std::int64_t length = 0;
    {
        const std::lock_guard guard(lock_);
        for (block* b = all; b != nullptr; ++length) {
            block* const next = b->next;
            if (is_alone(b)) {
                b->next = std::exchange(alone, b);
            } else if (slab* const s = put_back(*b)) {
                s->next = std::exchange(unused, s);
            }
            b = next;
        }
    }
    count(-length);
    while (alone != nullptr) {
        block* const b = std::exchange(alone, alone->next);
        ::operator delete(static_cast<void*>(static_cast<char*>(origin(b)) - 1));
    }
    while (unused != nullptr) ::operator delete(static_cast<void*>(std::exchange(unused, unused->next)));
}

WEIR_INLINE void frame_slabs::forget() noexcept {
    lock_.unlock();
    open_.store(nullptr, std::memory_order_relaxed);
}

// Where a block can begin: the lowest address with this alignment that leaves `before_block` bytes between
// `from` and the block, for the block's origin.
WEIR_INLINE auto frame_slabs::place_behind(void* from, std::size_t alignment) noexcept -> block* {
    char* const least = static_cast<char*>(from) + before_block;
    void* const place = least + (0 - reinterpret_cast<std::uintptr_t>(least)) % alignment;
    return static_cast<block*>(place);
}

WEIR_INLINE auto frame_slabs::from_heap(std::size_t stride, bool aligned) -> block* {
    const std::size_t alignment = aligned ? most_frame_alignment : __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    void* const whole = ::operator new(stride - before_block + alignment);
    block* const b = new (place_behind(whole, alignment)) block{nullptr};
    origin(b) = static_cast<char*>(whole) + 1;
    return b;
}

WEIR_INLINE auto frame_slabs::make_slab(std::size_t stride, std::size_t blocks) -> slab* {
    void* const whole = ::operator new(slab::extra() + blocks * stride);
    void* const first = place_behind(static_cast<char*>(whole) + sizeof(slab), most_frame_alignment);
    return new (whole) slab{.fresh = number_as<std::uint32_t>(blocks), .first_fresh = first};
}

// Blocks that were never in use are chained in the order of their addresses: the reverse order takes twice as
// long.
WEIR_INLINE auto frame_slabs::cut(std::size_t stride, std::uint32_t most) noexcept -> chain {
    block* first = nullptr;
    block** end = &first;
    std::uint32_t length = 0;
    while (length != most) {
        // relaxed: the lock is held
        slab* const s = open_.load(std::memory_order_relaxed);
        if (s == nullptr) break;
        for (; length != most && !s->is_full(); ++length) {
            block* b = s->free;
            if (b != nullptr) {
                s->free = b->next;
            } else {
                b = new (s->first_fresh) block{nullptr};
                origin(b) = s;
                s->first_fresh = reinterpret_cast<char*>(b) + stride;
                --s->fresh;
            }
            ++s->used;
            *end = b;
            end = &b->next;
        }
        if (s->is_full()) close(*s);
    }
    *end = nullptr;
    count(length);
    return {first, length};
}

// Puts the block back into its slab. If none of the slab's blocks is in use now, removes the slab from the
// list of open slabs, and returns it, to be freed. Else returns null. If the slab was made before the process
// forked: no effect, and null.
WEIR_INLINE auto frame_slabs::put_back(block& b) noexcept -> slab* {
    auto* const s = static_cast<slab*>(origin(&b));
    if (!s->born.is_here()) return nullptr;
    if (s->is_full()) open(*s);
    b.next = std::exchange(s->free, &b);
    if (--s->used != 0) return nullptr;
    close(*s);
    return s;
}

WEIR_INLINE void frame_slabs::open(slab& s) noexcept {
    slab* const before = open_.load(std::memory_order_relaxed);  // first until now; relaxed: under the lock
    s.next = before;
    s.previous = nullptr;
    if (before != nullptr) before->previous = &s;
    open_.store(&s, std::memory_order_relaxed);
}

WEIR_INLINE void frame_slabs::close(slab& s) noexcept {
    if (s.next != nullptr) s.next->previous = s.previous;
    if (s.previous != nullptr) {
        s.previous->next = s.next;
    } else {
        open_.store(s.next, std::memory_order_relaxed);
    }
}

}  // namespace weir::detail

#endif
