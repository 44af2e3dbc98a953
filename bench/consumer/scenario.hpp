// The loop that README shows first: a thread takes the items of two stages that do nothing.
#ifndef BENCH_CONSUMER_SCENARIO_HPP
#define BENCH_CONSUMER_SCENARIO_HPP

#include "common/check.hpp"
#include "common/harness.hpp"

#include <cstddef>
#include <cstdint>

namespace bench::consumer {

struct scenario {
    unsigned workers = 1;              // as many slots has each stage
    std::size_t capacity_of_sink = 0;  // 0: the default
};

inline void expect(std::uint64_t sum, std::uint64_t n) {
    check(sum == n * (n - 1) / 2, "each item comes out once");
}

}  // namespace bench::consumer

#endif
