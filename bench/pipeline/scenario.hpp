// The parameters of a group of this benchmark: a source, three stages and a sink, the same for all contestants.
#ifndef BENCH_PIPELINE_SCENARIO_HPP
#define BENCH_PIPELINE_SCENARIO_HPP

#include "common/check.hpp"
#include "common/harness.hpp"

#include <cstddef>
#include <cstdint>

namespace bench::stages {

using item = std::uint64_t;

inline constexpr std::size_t num_stages = 3;

// Ends the stream, once per reader, for queues that can't be closed, or lose their items then.
inline constexpr item end_of_stream = ~item{0};

struct scenario {
    unsigned workers = 1;
    std::size_t slots = 1;  // of each stage; with 1 slot items leave in order
    std::size_t capacity = 64;
    double work_ns = 0;
    bench::work work{work_ns};

    item stage(item x) const {
        work();
        return x + 1;
    }

    // For contestants that bound items in flight instead of queues: as many as the four queues and the
    // stages hold.
    std::size_t tokens() const { return (num_stages + 1) * capacity + num_stages * slots + 2; }
};

// The items that came out of the sink.
struct totals {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;

    void add(item x) {
        ++count;
        sum += x;
    }

    // The items that went in were 0 to n - 1.
    void expect(std::uint64_t n) const {
        check(count == n, "all items come out once");
        check(sum == n * (n - 1) / 2 + num_stages * n, "each item passes all stages");
    }
};

}  // namespace bench::stages

#endif
