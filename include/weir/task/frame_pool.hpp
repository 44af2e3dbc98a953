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
    // Not inlined, as `free`: see WEIR_NOINLINE.
    WEIR_NOINLINE static void* allocate(std::size_t size) {
        const std::size_t c = class_of(size);
        if (c < classes) {
            list& l = here().lists[c];
            if (block* const b = l.first) {
                l.first = b->next;
                --l.length;
                return b;
            }
            // A sanitizer is to see the size that was asked for.
            if (pools_frames) return ::operator new((c + 1) * step);
        }
        return ::operator new(size);
    }

    WEIR_NOINLINE static void free(void* p, std::size_t size) noexcept {
        const std::size_t c = class_of(size);
        if (c >= classes) return ::operator delete(p);
        lists_of_thread& mine = here();
        list& l = mine.lists[c];
        if (l.length >= most_kept || !pools_frames || !mine.keeps()) return ::operator delete(p);
        l.first = new (p) block{l.first};
        ++l.length;
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
        unsigned length = 0;
    };
    // Trivially constructed and destroyed, so that it is there for as long as the thread; what it
    // keeps is freed by `cleaner`, after which it keeps nothing.
    struct lists_of_thread {
        list lists[classes];
        enum class phase : unsigned char { fresh, keeping, over } now = phase::fresh;

        bool keeps() noexcept {
            if (now == phase::fresh) {
                now = phase::keeping;
                standard_platform::of_thread<cleaner>().mine = this;
            }
            return now == phase::keeping;
        }
    };
    struct cleaner {
        lists_of_thread* mine = nullptr;
        ~cleaner() {
            mine->now = lists_of_thread::phase::over;
            for (list& l : mine->lists) {
                while (block* const b = l.first) {
                    l.first = b->next;
                    ::operator delete(b);
                }
                l.length = 0;
            }
        }
    };

    static std::size_t class_of(std::size_t size) noexcept { return (size - 1) / step; }
    static lists_of_thread& here() noexcept { return standard_platform::of_thread<lists_of_thread>(); }
};

}  // namespace weir::detail

#endif
