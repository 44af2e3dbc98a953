// weir executor: how the threads of a pool begin, and how many there may be
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_POOL_OPTIONS_HPP
#define WEIR_EXECUTOR_POOL_OPTIONS_HPP

#include <weir/platform/requirements.hpp>

#include <functional>  // for std::function

namespace weir {

/// Of a `thread_pool`, by their names: `weir::thread_pool pool(4, {.most_workers = 16})`.
struct thread_pool_options {
    /// The most that `set_workers` can ask for. A worker that was never asked for costs some hundred bytes.
    /// 0: one a core, or as many as there are from the beginning, if that is more.
    unsigned most_workers = 0;

    /// Called on each thread before it runs anything, with its worker's number, from 0 on: for its name, the
    /// cores that it may use, its device. Also on those that `set_workers` starts, and on those
    /// that work in the place of a worker that blocks: with its number, which so comes more than once.
    ///
    /// Order: for one thread after the other, never for two at once.
    /// Errors: what it throws comes out of the constructor, once the threads that had begun have been joined;
    ///         or out of `set_workers`.
    /// Threads: who starts the thread waits until this returns. It must not use the pool.
    std::function<void(unsigned worker)> on_thread_start = nullptr;
};

/// Of a `blocking_pool`, by their names.
struct blocking_pool_options {
    /// As of a `thread_pool`.
    std::function<void(unsigned thread)> on_thread_start = nullptr;
};

}  // namespace weir

#endif
