// A counter for many threads, without sharing a cache line.
#ifndef BENCH_COMMON_TALLY_HPP
#define BENCH_COMMON_TALLY_HPP

#include <atomic>
#include <cstdint>
#include <vector>

#include "common/check.hpp"

namespace bench {

class tally {
    struct alignas(64) cell {
        std::atomic<std::uint64_t> n{0};
    };

  public:
    // Not inlined: in a coroutine, a thread's variable may be looked up on the thread before.
    [[gnu::noinline]] void count() noexcept {
        std::atomic<std::uint64_t>& mine = cells_[index()].n;
        mine.store(mine.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    // Since the last call; by whoever knows that nobody counts now.
    std::uint64_t take() noexcept {
        std::uint64_t total = 0;
        for (cell& c : cells_) total += c.n.exchange(0, std::memory_order_relaxed);
        return total;
    }

  private:
    static constexpr std::size_t most_threads = 256;  // that ever count in a process

    static std::size_t index() noexcept {
        static std::atomic<std::size_t> next{0};
        static thread_local const std::size_t mine = next.fetch_add(1);
        check(mine < most_threads, "a thread more than a tally has cells");
        return mine;
    }

    std::vector<cell> cells_{most_threads};
};

}  // namespace bench

#endif
