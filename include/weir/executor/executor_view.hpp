// weir executor, internal: what a watchdog sees of an executor
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_EXECUTOR_VIEW_HPP
#define WEIR_EXECUTOR_EXECUTOR_VIEW_HPP

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <vector>   // for std::vector

namespace weir::detail {

struct worker_view {
    bool runs = false;       // a coroutine has its thread
    std::uint64_t done = 0;  // how many things it has done
};

struct executor_view {
    // Something is queued, on its way to a thread, or will be, as a timer is set; or the executor can't
    // tell.
    bool pending = true;
    // Coroutines are queued, and no thread is free for them.
    bool crowded = false;
    std::size_t busy = 0;       // threads that do something, or wait inside of what they do
    std::uint64_t resumed = 0;  // how many coroutines, ever
    std::vector<worker_view> workers;
};

}  // namespace weir::detail

#endif
