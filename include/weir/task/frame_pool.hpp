// weir task, internal: allocates coroutine frames, and reuses the memory of frames that were freed
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_FRAME_POOL_HPP
#define WEIR_TASK_FRAME_POOL_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint32_t, std::uint8_t, std::uintptr_t
#include <new>      // for std::align_val_t
#include <utility>  // for std::exchange

namespace weir::detail {

// Blocks of one size. A block is in use from `take` to `give`; threads also keep free blocks of their own
// (`frame_pool`), which count as in use here. If no slab has a free block, `take` allocates memory: while
// fewer than 64 blocks are in use, for one block; from 64 on, a slab. A slab is memory for a sixteenth of the
// number of blocks in use, of at most 64 KiB. Frames that are made one after the other from a new slab are
// adjacent. (10^6 tasks that a coroutine spawns before it waits for them, one worker: 45 ns a task with
// malloc, 22 with slabs; 144 and 75 the first time, when the system maps the pages.)
//
// Memory:   a slab is made when all others are full. So there is memory for at most 17/16 of the largest
//           number of blocks that were in use at one time. A slab is freed when none of its blocks is in use.
// Threads:  any. `give` takes the lock once, `take` at most twice.
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

    struct chain {  // a linked list of blocks
        block* first;
        std::uint32_t length;
    };

    // Returns a list of 1 to `most` blocks, each of `stride - before_block` bytes: a new one from the heap,
    // or blocks of slabs. `stride`: a multiple of 64. `aligned`: to `most_frame_alignment`; else as by
    // `operator new`. All calls of one object pass the same `stride` and `aligned`.
    // Errors: `std::bad_alloc`.
    chain take(std::size_t stride, bool aligned, std::uint32_t most);

    // Frees a linked list of blocks; null: none.
    void give(block* all) noexcept;

    // Called after a fork by the child's only thread: drops the parent's slabs without freeing them, and
    // unlocks the lock, which a thread of the parent may have held.
    void forget() noexcept;

  private:
    static constexpr std::int64_t blocks_per_new = 16;  // a new slab has one block for 16 in use
    static constexpr std::int64_t fewest = 4;           // a slab has at least 4 blocks
    static constexpr std::size_t most_bytes = std::size_t{64} << 10U;  // of a slab

    struct slab;

    static void*& origin(block* b) noexcept { return reinterpret_cast<void**>(b)[-1]; }
    static bool is_alone(block* b) noexcept { return reinterpret_cast<std::uintptr_t>(origin(b)) % 2 != 0; }
    static block* place_behind(void* from, std::size_t alignment) noexcept;
    static block* from_heap(std::size_t stride, bool aligned);       // an allocation for this block
    static slab* make_slab(std::size_t stride, std::size_t blocks);  // with free blocks only

    // relaxed: only the size of the next slab depends on the number
    void count(std::int64_t more) noexcept { in_use_.fetch_add(more, std::memory_order_relaxed); }

    // The following functions are called under the lock. `cut` takes up to `most` blocks out of the open
    // slabs. `put_back` returns the block to its slab, and the slab to the caller if none of its blocks is in
    // use now; else null. `open` and `close` add the slab to `open_`, and remove it.
    chain cut(std::size_t stride, std::uint32_t most) noexcept;
    slab* put_back(block& b) noexcept;
    void open(slab& s) noexcept;
    void close(slab& s) noexcept;

    basic_spin_lock<standard_platform> lock_;            // guards all slabs
    standard_platform::atomic<slab*> open_{nullptr};     // a list of the slabs with free blocks
    standard_platform::atomic<std::int64_t> in_use_{0};  // blocks of slabs, and of the heap
};

// The slabs. Each size of blocks, in steps of 64 bytes up to 2 KiB, has two elements: for plain and for
// aligned blocks. Never destroyed: a coroutine may be destroyed by the destructor of a static object.
inline constexpr std::size_t frame_sizes = 64;
inline constinit frame_slabs the_frame_slabs[frame_sizes];

inline const bool frame_slabs_are_forgotten = at_fork_in_child([] {
    for (frame_slabs& each : the_frame_slabs) each.forget();
});

// Each thread keeps the blocks that it frees in lists, one for each size in steps of 64 bytes up to 2 KiB: so
// most calls need no atomic operation. A thread exchanges blocks with `frame_slabs` in batches; it keeps at
// most two batches for each size, and none after its end. Blocks that are `aligned` to `most_frame_alignment`
// bytes have lists of their own. Larger blocks are allocated from the heap.
class frame_pool {
  public:
    static void* allocate(std::size_t size, bool aligned) {
        // With a sanitizer nothing is pooled: it has to see each allocation, with its size.
        if constexpr (!pools_frames) return aligned ? ::operator new(size, alignment) : ::operator new(size);
        const std::size_t c = class_of(size, aligned);
        return c < frame_sizes ? take(c) : from_heap(size, aligned);
    }

    // Uses `if`: of `c ? ::operator delete(p, alignment) : ::operator delete(p)`, clang 16 and 19 evaluate
    // both arms.
    static void free(void* p, std::size_t size, bool aligned) noexcept {
        const std::size_t c = class_of(size, aligned);
        if (pools_frames && c < frame_sizes) {
            keep(p, c);
        } else if (pools_frames || !aligned) {
            ::operator delete(aligned ? static_cast<void**>(p)[-1] : p);
        } else {
            ::operator delete(p, alignment);
        }
    }

    // Frees a block of up to 2 KiB, without adding it to a list of this thread.
    static void give(void* p, std::size_t size, bool aligned) noexcept {
        the_frame_slabs[class_of(size, aligned)].give(new (p) block{nullptr});
    }

  private:
    using block = frame_slabs::block;
    static constexpr std::align_val_t alignment{most_frame_alignment};
    static constexpr std::size_t step = 64;
    static constexpr std::uint32_t batch = 32;  // blocks that a thread exchanges at once, at most

    struct list {  // the free blocks of one size of a thread
        block* first = nullptr;
        block* spare = nullptr;  // a whole batch, or null
        std::uint32_t room = 0;  // number of blocks that may be added to `first`
    };
    enum class phase : std::uint8_t { unused, in_use, over };  // of the lists of a thread
    // Constant-initialised and trivially destructible, so that the lists exist as long as the thread. At the
    // end of the thread, `cleaner` gives the blocks back. From then on the lists keep no blocks.
    struct lists_of_thread {
        list lists[frame_sizes];
        phase at = phase::unused;
    };
    struct cleaner {
        lists_of_thread* mine = nullptr;
        ~cleaner() {
            mine->at = phase::over;
            for (std::size_t c = 0; c != frame_sizes; ++c) {
                list& l = mine->lists[c];
                l.room = 0;
                the_frame_slabs[c].give(std::exchange(l.first, nullptr));
                the_frame_slabs[c].give(std::exchange(l.spare, nullptr));
            }
        }
    };

    // Neither this nor `keep` is inlined: a coroutine would keep the thread-local address when it continues
    // on another thread.
    WEIR_NOINLINE static void* take(std::size_t c) {
        list& l = here().lists[c];
        block* const b = l.first;
        if (b == nullptr) return take_batch(c);
        l.first = b->next;
        ++l.room;
        return b;
    }

    WEIR_NOINLINE static void keep(void* p, std::size_t c) noexcept {  // in the list `c`
        list& l = here().lists[c];
        if (l.room == 0) return keep_batch(p, c);
        --l.room;
        l.first = new (p) block{l.first};
    }

    WEIR_NOINLINE static void* take_batch(std::size_t c) {  // list `c` is empty: refills it, and takes one
        lists_of_thread& mine = here();
        begin(mine);
        list& l = mine.lists[c];
        if (l.spare != nullptr) {
            l.first = std::exchange(l.spare, nullptr);
            l.room = 0;
            return take(c);
        }
        const bool keeps = mine.at == phase::in_use;  // false: the thread is about to end
        const frame_slabs::chain some =
            the_frame_slabs[c].take((c / 2 + 1) * step, c % 2 != 0, keeps ? batch : 1);
        if (keeps) {
            l.first = some.first->next;
            l.room = batch - (some.length - 1);
        }
        return some.first;
    }

    // Keeps a block for which list `c` has no room. At the thread's first use of the pool, makes room. If
    // `first` is a whole batch, makes it the spare one, and gives the older spare batch to `frame_slabs`.
    // After `cleaner` has emptied the lists, gives the block itself to `frame_slabs`.
    WEIR_NOINLINE static void keep_batch(void* p, std::size_t c) noexcept {
        lists_of_thread& mine = here();
        if (mine.at == phase::over) return the_frame_slabs[c].give(new (p) block{nullptr});
        list& l = mine.lists[c];
        if (!begin(mine)) {
            block* const older = std::exchange(l.spare, std::exchange(l.first, nullptr));
            l.room = batch;
            if (older != nullptr) the_frame_slabs[c].give(older);
        }
        keep(p, c);
    }

    // If the thread uses the pool for the first time, makes room in its lists. False if the thread has used
    // the pool already.
    static bool begin(lists_of_thread& mine) noexcept {
        if (mine.at != phase::unused) return false;
        mine.at = phase::in_use;
        standard_platform::of_thread<cleaner>().mine = &mine;
        for (list& l : mine.lists) l.room = batch;
        return true;
    }

    // For sizes without a list. Aligned by hand: `operator new` with an alignment takes twice as long, and
    // more memory. The address of the whole block is stored in front of the aligned one.
    static void* from_heap(std::size_t size, bool aligned) {
        if (!aligned) return ::operator new(size);
        void* const whole = ::operator new(size + most_frame_alignment);
        const std::size_t odd = reinterpret_cast<std::uintptr_t>(whole) % most_frame_alignment;
        void** const p = static_cast<void**>(whole) + (most_frame_alignment - odd) / sizeof(void*);
        p[-1] = whole;
        return static_cast<void*>(p);
    }

    // The index of a list: two for each size, of which the second has the aligned blocks.
    static std::size_t class_of(std::size_t size, bool aligned) noexcept {
        return (size + frame_slabs::before_block - 1) / step * 2 + (aligned ? 1 : 0);
    }
    static lists_of_thread& here() noexcept { return standard_platform::of_thread<lists_of_thread>(); }
};

// Base of a promise: the coroutine frame is allocated from the pool, with the alignment that it needs.
class pooled_frame {
  public:
    WEIR_ALWAYS_INLINE static void* operator new(std::size_t size) {
        return frame_pool::allocate(size, is_aligned(frame_alignment(size)));
    }
    WEIR_ALWAYS_INLINE static void operator delete(void* frame, std::size_t size) noexcept {
        frame_pool::free(frame, size, is_aligned(frame_alignment(size)));
    }

  private:
    static constexpr bool is_aligned(std::size_t alignment) {
        return alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    }
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/task/frame_pool.ipp>
#endif

#endif
