// weir task, internal: keeps the memory of coroutines that have ended for those that come
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_FRAME_POOL_HPP
#define WEIR_TASK_FRAME_POOL_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <new>      // for operator new

namespace weir::detail {

// Blocks by size, in steps of 64 bytes, in lists of the thread that freed them: no atomics. A thread
// keeps at most `most_kept` of a size (64 KiB in all for the largest) until it ends.
class frame_pool {
  public:
    static void* allocate(std::size_t size) {
        const std::size_t c = class_of(size);
        // A sanitizer is to see each one, and the size that was asked for.
        return pools_frames && c < classes ? take(c) : ::operator new(size);
    }

    static void free(void* p, std::size_t size) noexcept {
        const std::size_t c = class_of(size);
        if (pools_frames && c < classes) {
            keep(p, c);
        } else {
            ::operator delete(p);
        }
    }

  private:
    static constexpr std::size_t step = 64;
    static constexpr std::size_t classes = 16;
    static constexpr unsigned most_kept = 64;

    struct block {
        block* next;
    };
    struct list {
        block* first = nullptr;
        unsigned room = 0;  // for so many more
    };
    // Trivially constructed and destroyed, so that it is there for as long as the thread; what it
    // keeps is freed by `cleaner`, after which it keeps nothing.
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
                    ::operator delete(b);
                }
            }
        }
    };

    // Not inlined, as `keep`: see WEIR_NOINLINE.
    WEIR_NOINLINE static void* take(std::size_t c) {
        list& l = here().lists[c];
        block* const b = l.first;
        if (b == nullptr) return ::operator new((c + 1) * step);
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

    // The first one of all that the thread frees, or one for which there is no room.
    WEIR_NOINLINE static void keep_first(void* p, std::size_t c) noexcept {
        lists_of_thread& mine = here();
        if (mine.was_used) return ::operator delete(p);
        mine.was_used = true;
        standard_platform::of_thread<cleaner>().mine = &mine;
        for (list& l : mine.lists) l.room = most_kept;
        keep(p, c);
    }

    static std::size_t class_of(std::size_t size) noexcept { return (size - 1) / step; }
    static lists_of_thread& here() noexcept { return standard_platform::of_thread<lists_of_thread>(); }
};

}  // namespace weir::detail

#endif
