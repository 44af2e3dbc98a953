// weir task, internal: the memory of coroutine frames of one size, which all threads share
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_FRAME_SLABS_HPP
#define WEIR_TASK_FRAME_SLABS_HPP

#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint32_t, std::uintptr_t

namespace weir::detail {

// Blocks of one size. A block is in use from `take` to `give`; threads also keep free blocks of their own
// (frame_pool.hpp), which count as in use here. While fewer than 64 are in use, each block is allocated from
// the heap. From 64 on, blocks are cut from a slab: memory for a sixteenth of the blocks in use, of at most
// 64 KiB. Frames that are made one after the other from a new slab are adjacent. (10^6 tasks that a coroutine
// spawns before it waits for them, one worker: 45 ns a task with malloc, 22 with slabs; 144 and 75 the first
// time, when the system maps the pages.)
//
// Memory:   a slab is made when all others are full. So there is memory for at most 17/16 of the largest
//           number of blocks that were in use at one time. A slab is freed when none of its blocks is in use.
// Threads:  any. Each call of `take` or `give` takes the lock once.
// Forks:    a thread of the parent may have been changing a slab, so a child neither uses nor frees the
//           parent's slabs.
// Source:   Bonwick, "The slab allocator" (USENIX 1994).
class alignas(64) frame_slabs {
  public:
    // A free block. The word in front of each block, free or not, is the address of its origin: of its slab;
    // or, with the lowest bit set, of the heap allocation for this block alone.
    struct block {
        block* next;
    };
    static constexpr std::size_t before_block = sizeof(void*);

    struct chain {
        block* first;
        std::uint32_t length;
    };

    // Allocates a block of `stride - before_block` bytes. Adds free blocks of slabs, up to `most` blocks in
    // all. `stride`: a multiple of 64. `aligned`: to `most_frame_alignment`; else as by `operator new`. All
    // calls of one object pass the same `stride` and `aligned`.
    // Errors: `std::bad_alloc`.
    chain take(std::size_t stride, bool aligned, std::uint32_t most);

    // Frees a linked list of blocks; null: none.
    void give(block* all) noexcept;

    // Called after a fork by the child's only thread: drops the parent's slabs without freeing them.
    void forget() noexcept;

  private:
    static constexpr std::int64_t blocks_per_new = 16;  // a new slab has one block for 16 in use
    static constexpr std::int64_t fewest = 4;           // a slab has at least 4 blocks
    static constexpr std::size_t most_bytes = std::size_t{64} << 10U;

    struct slab;

    static void*& origin(block* b) noexcept { return reinterpret_cast<void**>(b)[-1]; }
    static bool is_alone(block* b) noexcept { return reinterpret_cast<std::uintptr_t>(origin(b)) % 2 != 0; }
    static block* place_behind(void* from, std::size_t alignment) noexcept;
    static block* from_heap(std::size_t stride, bool aligned);
    static slab* make_slab(std::size_t stride, std::size_t blocks);

    // relaxed: only the size of the next slab depends on the number
    void count(std::int64_t more) noexcept { in_use_.fetch_add(more, std::memory_order_relaxed); }

    // These are called under the lock. `put_back` returns the slab of the block if the slab is empty now.
    // `open` and `close` add the slab to `open_`, and remove it.
    chain cut(std::size_t stride, std::uint32_t most) noexcept;
    slab* put_back(block& b) noexcept;
    void open(slab& s) noexcept;
    void close(slab& s) noexcept;

    basic_spin_lock<standard_platform> lock_;            // guards all slabs
    standard_platform::atomic<slab*> open_{nullptr};     // a list of the slabs with free blocks
    standard_platform::atomic<std::int64_t> in_use_{0};  // blocks of slabs, and of the heap
};

// The slabs for each size of blocks, and for each size of aligned blocks. Never destroyed: a coroutine may be
// destroyed by the destructor of a static object.
inline constexpr std::size_t frame_sizes = 64;
inline constinit frame_slabs the_frame_slabs[frame_sizes];

inline const bool frame_slabs_are_forgotten = at_fork_in_child([] {
    for (frame_slabs& each : the_frame_slabs) each.forget();
});

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/task/frame_slabs.ipp>
#endif

#endif
