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
    // Not inlined: inlined into a coroutine, the address of a thread_local may be that of the previous thread.
    [[gnu::noinline]] void count() noexcept {
        std::atomic<std::uint64_t>& mine = cells_[index()].n;
        mine.store(mine.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    // The count since the last call. The caller must know that no thread counts at present.
    std::uint64_t take() noexcept {
        std::uint64_t total = 0;
        for (cell& c : cells_) total += c.n.exchange(0, std::memory_order_relaxed);
        return total;
    }

  private:
    static constexpr std::size_t most_threads = 256;  // maximum number of threads that count in a process

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
