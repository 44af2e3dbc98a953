// Instead of the library's header of this name: each frame is of its own memory, so that one that is used after
// its end is noticed.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_INTERLEAVINGS_FRAME_POOL_HPP
#define WEIR_TESTS_INTERLEAVINGS_FRAME_POOL_HPP

#include <weir/platform/config.hpp>

#include <cstddef>
#include <new>

namespace weir::detail {

class frame_pool {
  public:
    WEIR_NOINLINE static void* allocate(std::size_t size) { return ::operator new(size); }
    WEIR_NOINLINE static void free(void* p, std::size_t) noexcept { ::operator delete(p); }
};

}  // namespace weir::detail

#endif
