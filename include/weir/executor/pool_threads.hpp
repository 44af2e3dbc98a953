// weir executor, internal: the threads of a pool, in the process that has them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_POOL_THREADS_HPP
#define WEIR_EXECUTOR_POOL_THREADS_HPP

#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system_thread.hpp>

#include <cstddef>  // for std::size_t
#include <memory>   // for std::construct_at
#include <utility>  // for std::forward
#include <vector>   // for std::vector

namespace weir::detail {

// Started once, joined once, all by one thread, before the other members of its owner go: those who run in
// the threads use them.
template <class Platform = standard_platform>
class basic_pool_threads {
    std::vector<typename Platform::thread> threads_;
    process_of_origin born_;

  public:
    basic_pool_threads() noexcept = default;
    basic_pool_threads(const basic_pool_threads&) = delete;
    basic_pool_threads& operator=(const basic_pool_threads&) = delete;

    void reserve(std::size_t threads) { threads_.reserve(threads); }

    template <class Function>
    void start(Function&& function) {
        threads_.emplace_back(std::forward<Function>(function));
    }

    std::size_t size() const noexcept { return threads_.size(); }

    // True in a process that was forked from theirs: there is none of them here.
    bool are_elsewhere() const noexcept { return !born_.is_here(); }

    // Where they are elsewhere, their handles are written over: to detach them would touch what the system
    // may have given to another thread of this process.
    void join() noexcept {
        for (auto& t : threads_) are_elsewhere() ? void(std::construct_at(&t)) : t.join();
    }
};

WEIR_COMPILED(class basic_pool_threads<standard_platform>);

}  // namespace weir::detail

#endif
