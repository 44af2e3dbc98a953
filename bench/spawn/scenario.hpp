// The parameters of a group of `spawn`, and the expected result.
#ifndef BENCH_SPAWN_SCENARIO_HPP
#define BENCH_SPAWN_SCENARIO_HPP

#include <cstdint>

#include "common/check.hpp"
#include "common/harness.hpp"
#include "common/tally.hpp"

namespace spawn {

enum class shape {
    outside,    // a thread outside of the pool spawns independent tasks
    inside,     // a task spawns them
    fork_join,  // fib: each call that is no leaf makes two calls and waits for both
    skynet,     // a tree with ten children per node; the numbers of the leaves are summed
    wide_join,  // a task waits for a thousand, again and again
};

struct scenario {
    shape what;
    unsigned workers;
    std::uint64_t size;  // of one repetition: tasks, or leaves, or the argument of fib

    // The number of operations of one repetition.
    std::uint64_t unit() const {
        if (what != shape::fork_join) return size;
        std::uint64_t calls = 1, before = 1;
        for (std::uint64_t i = 2; i <= size; ++i) {
            const std::uint64_t next = 1 + calls + before;
            before = calls;
            calls = next;
        }
        return calls;
    }

    std::uint64_t result() const {
        if (what == shape::skynet) return size * (size - 1) / 2;
        if (what != shape::fork_join) return size;
        std::uint64_t value = 1, before = 0;
        for (std::uint64_t i = 2; i <= size; ++i) {
            const std::uint64_t next = value + before;
            before = value;
            value = next;
        }
        return value;
    }
};

// A contestant's body: repeats `once`, which gives the result of one repetition.
template <class Once>
bench::group::body repeat(const scenario& s, Once once) {
    return [s, once](std::uint64_t n) {
        for (std::uint64_t done = 0; done < n; done += s.unit()) {
            bench::check(once() == s.result(), "spawn");
        }
    };
}

constexpr unsigned fan_out = 10;  // of skynet

}  // namespace spawn

#endif
