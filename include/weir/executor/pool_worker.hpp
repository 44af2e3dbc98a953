// weir executor, internal: a worker of a pool, and what runs on its thread may do with its forks
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_POOL_WORKER_HPP
#define WEIR_EXECUTOR_POOL_WORKER_HPP

#include <weir/executor/worker_queues.hpp>
#include <weir/platform/transfer.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t, std::uint64_t

namespace weir::detail {

// What isn't said otherwise is its thread's own.
template <class Pool, class Platform>
struct pool_worker final : basic_worker_queues<Platform>, own_forks {
    pool_worker(Pool& p, unsigned n) : pool(&p), number(n) { this->belong_to(p); }

    void fork(std::coroutine_handle<> h) noexcept override {
        this->forks.push_bottom(h.address());
        pool->is_for_two();
    }

    // Counts as a resumption, of which the thieves' verdict is made. All that comes before forks in the
    // pool's loop comes before this, too.
    bool take_back(std::coroutine_handle<> h) noexcept override {
        if (this->has_next() || !this->queue.empty()) return false;
        if (pool->waits_outside()) [[unlikely]]
            return takes_before_others(h);
        return takes(h);
    }

    Pool* const pool;
    const unsigned number;
    unsigned streak = 0;
    unsigned passed_over = 0;  // how often the queue came before the forks
    std::int64_t looked = 0;   // coarse clock, when it last looked outside

  private:
    bool takes(std::coroutine_handle<> h) noexcept {
        if (!this->forks.pop_bottom_if(h.address())) return false;
        this->count_resumption();
        this->runs(h.address());
        return true;
    }
    // If what waits outside has not its turn. Not inlined, so that the other way saves no registers.
    WEIR_NOINLINE bool takes_before_others(std::coroutine_handle<> h) noexcept {
        return !pool->has_to_look(*this) && takes(h);
    }
};

}  // namespace weir::detail

#endif
