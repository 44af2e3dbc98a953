#ifndef BENCH_PINGPONG_SCENARIO_HPP
#define BENCH_PINGPONG_SCENARIO_HPP

#include "common/check.hpp"
#include "common/harness.hpp"
#include "common/threads.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

// All contestants send a number through a queue of capacity 1 and get its successor from another.
struct scenario {
    unsigned workers;

    bool has_threads() const { return workers == 2; }  // a spinning thread needs its own core
};

inline void check_replies(std::uint64_t sum, std::uint64_t n) {
    bench::check(sum == n * (n + 1) / 2, "every number comes back as its successor");
}

template <class Queue>
void between_threads(std::uint64_t n) {
    Queue there(1);
    Queue back(1);
    std::uint64_t sum = 0;
    bench::on_threads(2, [&](std::size_t side) {
        std::uint64_t number = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            if (side == 0) {
                number = i;
                there.push(std::move(number));
                back.pop(number);
                sum += number;
            } else {
                there.pop(number);
                ++number;
                back.push(std::move(number));
            }
        }
    });
    check_replies(sum, n);
}

#endif
