// Instead of the library's header of this name: the same platform, but that its atomics count.
// SPDX-License-Identifier: BSL-1.0
#ifndef BENCH_CONTENTION_PLATFORM_HPP
#define BENCH_CONTENTION_PLATFORM_HPP

#include "contention/counted_atomic.hpp"

#pragma GCC system_header  // for the next line
#define standard_platform system_platform
#include_next <weir/platform/platform.hpp>
#undef standard_platform

namespace weir::detail {

struct standard_platform : system_platform {
    template <class T>
    using atomic = bench::contention::counted_atomic<T>;

    static bool has_heavy_fence() noexcept {
        return bench::contention::reserves_locks.load(std::memory_order_relaxed) &&
               system_platform::has_heavy_fence();
    }
    static inline unsigned concurrency() noexcept;    // in system_thread.hpp
    static process_counts count_process() noexcept;   // in system_info.hpp
    static process_memory measure_memory() noexcept;  // in system_info.hpp
    static inline unsigned processors() noexcept;     // in system_info.hpp
};

}  // namespace weir::detail

#endif
