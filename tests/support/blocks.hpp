// A pool of the user for `batch_slots`: each block is a new vector. Every second time a slot has to wait for it.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_BLOCKS_HPP
#define WEIR_TESTS_SUPPORT_BLOCKS_HPP

#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace blocks {

// Threads: any.
class vectors {
  public:
    template <class T>
    std::optional<std::vector<T>> try_acquire(std::size_t n) {
        if (asked_.fetch_add(1, std::memory_order_relaxed) % 2 == 1) return std::nullopt;
        return std::vector<T>(n);
    }
    template <class T>
    weir::task<std::optional<std::vector<T>>> acquire(std::size_t n, weir::stop_token stop) {
        co_await weir::yield();
        if (stop.stop_requested()) co_return std::nullopt;
        std::vector<T> block(n);
        co_return std::move(block);
    }

  private:
    std::atomic<unsigned> asked_{0};
};

}  // namespace blocks

#endif
