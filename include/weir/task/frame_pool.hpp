// weir task, internal: allocates coroutine frames, and reuses the memory of frames that were freed
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_FRAME_POOL_HPP
#define WEIR_TASK_FRAME_POOL_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uintptr_t
#include <new>      // for std::align_val_t

namespace weir::detail {

// Each thread keeps the blocks that it frees in lists, one for each size in steps of 64 bytes: no atomics. A
// list has at most `most_kept` blocks, which are freed when the thread ends. Blocks that are `aligned` to
// `most_frame_alignment` bytes have lists of their own.
class frame_pool {
  public:
    static void* allocate(std::size_t size, bool aligned) {
        // With a sanitizer nothing is pooled: it has to see each allocation, with its size.
        if constexpr (!pools_frames) return aligned ? ::operator new(size, alignment) : ::operator new(size);
        const std::size_t c = class_of(size, aligned);
        return c < classes ? take(c) : from_heap(size, aligned);
    }

    // clang 16 and 19 evaluate both arms of `c ? ::operator delete(p, alignment) : ::operator delete(p)`.
    static void free(void* p, std::size_t size, bool aligned) noexcept {
        const std::size_t c = class_of(size, aligned);
        if (pools_frames && c < classes) {
            keep(p, c);
        } else if (pools_frames || !aligned) {
            to_heap(p, aligned);
        } else {
            ::operator delete(p, alignment);
        }
    }

    // Frees a block that no list keeps.
    static void to_heap(void* p, bool aligned) noexcept {
        ::operator delete(aligned ? static_cast<void**>(p)[-1] : p);
    }

  private:
    static constexpr std::align_val_t alignment{most_frame_alignment};
    static constexpr std::size_t step = 64;
    static constexpr std::size_t classes = 32;
    static constexpr unsigned most_kept = 64;

    struct block {
        block* next;
    };
    struct list {
        block* first = nullptr;
        unsigned room = 0;  // number of blocks that may be added
    };
    // Trivially constructed and destroyed, so that it exists as long as the thread. `cleaner` frees the
    // blocks at the end of the thread, and no more are kept afterwards.
    struct lists_of_thread {
        list lists[classes];
        bool was_used = false;
    };
    struct cleaner {
        lists_of_thread* mine = nullptr;
        ~cleaner() {
            for (list& l : mine->lists) {
                l.room = 0;
                while (block* const b = l.first) {
                    l.first = b->next;
                    to_heap(b, is_aligned(static_cast<std::size_t>(&l - mine->lists)));
                }
            }
        }
    };

    // Neither this nor `keep` is inlined: a coroutine would keep the thread-local address when it continues
    // on another thread.
    WEIR_NOINLINE static void* take(std::size_t c) {
        list& l = here().lists[c];
        block* const b = l.first;
        if (b == nullptr) return from_heap((c / 2 + 1) * step, is_aligned(c));
        l.first = b->next;
        ++l.room;
        return b;
    }

    WEIR_NOINLINE static void keep(void* p, std::size_t c) noexcept {
        list& l = here().lists[c];
        if (l.room == 0) return keep_first(p, c);
        --l.room;
        l.first = new (p) block{l.first};
    }

    // The first block of all that the thread frees, or a block whose list is full.
    WEIR_NOINLINE static void keep_first(void* p, std::size_t c) noexcept {
        lists_of_thread& mine = here();
        if (mine.was_used) return to_heap(p, is_aligned(c));
        mine.was_used = true;
        standard_platform::of_thread<cleaner>().mine = &mine;
        for (list& l : mine.lists) l.room = most_kept;
        keep(p, c);
    }

    // Aligned by hand: `operator new` with an alignment takes twice as long, and more memory. The address of
    // the whole block is stored in front of the aligned one.
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
        return (size - 1) / step * 2 + (aligned ? 1 : 0);
    }
    static bool is_aligned(std::size_t c) noexcept { return c % 2 != 0; }
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

#endif
