// The parameters of a group of `traverse`, and the expected result.
#ifndef BENCH_TRAVERSE_SCENARIO_HPP
#define BENCH_TRAVERSE_SCENARIO_HPP

#include <cstdint>

#include "common/check.hpp"
#include "common/harness.hpp"
#include "common/tally.hpp"

namespace traverse {

// A binary tree of `nodes` nodes: node n has the children 2n and 2n + 1. Each node is found by its parent.
struct scenario {
    unsigned workers;
    std::uint64_t nodes;
};

template <class Add>
void visit(bench::tally& tally, std::uint64_t node, std::uint64_t nodes, const Add& add) {
    tally.count();
    if (2 * node <= nodes) add(2 * node);
    if (2 * node + 1 <= nodes) add(2 * node + 1);
}

// The body of a contestant: repeats `once`, which returns the number of visited nodes.
template <class Once>
bench::group::body repeat(const scenario& s, Once once) {
    return [s, once](std::uint64_t n) {
        for (std::uint64_t done = 0; done < n; done += s.nodes) bench::check(once() == s.nodes, "traverse");
    };
}

}  // namespace traverse

#endif
