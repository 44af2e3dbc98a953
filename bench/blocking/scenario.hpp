#ifndef BENCH_BLOCKING_SCENARIO_HPP
#define BENCH_BLOCKING_SCENARIO_HPP

#include "common/check.hpp"
#include "common/harness.hpp"
#include "common/threads.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

// All contestants pass the numbers below n from one thread to another, through a queue.
struct scenario {
    std::size_t capacity;
};

inline void check_sum(std::uint64_t sum, std::uint64_t n) {
    bench::check(sum == n * (n - 1) / 2, "every item comes out once");
}

// `Producer` and `Consumer` are handles of the queue for one thread, or references to the queue.
template <class Queue, class Producer = Queue&, class Consumer = Queue&>
void between_threads(std::size_t capacity, std::uint64_t n) {
    Queue queue(capacity);
    std::uint64_t sum = 0;
    bench::on_threads(2, [&](std::size_t side) {
        std::uint64_t item = 0;
        if (side == 0) {
            Producer out(queue);
            for (std::uint64_t i = 0; i < n; ++i) {
                item = i;
                out.push(std::move(item));
            }
        } else {
            Consumer in(queue);
            for (std::uint64_t i = 0; i < n; ++i) {
                in.pop(item);
                sum += item;
            }
        }
    });
    check_sum(sum, n);
}

#endif
