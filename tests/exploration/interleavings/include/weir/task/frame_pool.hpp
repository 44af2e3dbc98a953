// Instead of the library's header of this name: each frame is of its own memory, so that one that is used after
// its end is noticed.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_INTERLEAVINGS_FRAME_POOL_HPP
#define WEIR_TESTS_INTERLEAVINGS_FRAME_POOL_HPP

#include <weir/platform/config.hpp>

#include <cstddef>
#include <new>

namespace weir::detail {

class pooled_frame {
  public:
    WEIR_NOINLINE static void* operator new(std::size_t size) { return ::operator new(size, alignment); }
    WEIR_NOINLINE static void operator delete(void* p, std::size_t) noexcept {
        ::operator delete(p, alignment);
    }

  private:
    static constexpr std::align_val_t alignment{most_frame_alignment};
};

}  // namespace weir::detail

#endif
