#ifndef BENCH_COMMON_CACHE_LINE_HPP
#define BENCH_COMMON_CACHE_LINE_HPP

#include "common/threads.hpp"

#include <atomic>
#include <cstdint>

namespace bench {

// Two spinning threads pass one cache line to each other and back.
inline void cache_line_round_trips(std::uint64_t n) {
    alignas(128) std::atomic<std::uint64_t> line{0};
    on_threads(2, [&](std::size_t side) {
        for (std::uint64_t turn = side; turn < 2 * n; turn += 2) {
            spin_until([&] { return line.load(std::memory_order_acquire) == turn; });
            line.store(turn + 1, std::memory_order_release);
        }
    });
}

}  // namespace bench

#endif
