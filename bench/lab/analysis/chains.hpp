// lab analysis: all chains of measured configurations between two of them
#ifndef LAB_ANALYSIS_CHAINS_HPP
#define LAB_ANALYSIS_CHAINS_HPP

#include "lab/data/configuration_index.hpp"

#include <cstddef>
#include <vector>

namespace lab {

// A step of a chain: one more factor takes its value of the chain's end.
struct chain_step {
    std::size_t factor = 0;
    std::size_t to = 0;  // place in chain_lattice::nodes
};

struct chain_node {
    std::size_t place = 0;    // in configuration_index::all()
    double chains_here = 0;   // from the beginning
    double chains_after = 0;  // to the end
    std::vector<chain_step> steps;
};

// Measured configurations whose factors have each the value of `from` or that of `to`, by the number of factors that
// are changed; the first is `from`, the last `to`. Each takes part in chains_here * chains_after chains.
struct chain_lattice {
    std::vector<std::size_t> changed;  // the factors in which both ends differ
    std::vector<chain_node> nodes;
    [[nodiscard]] double num_chains() const { return nodes.empty() ? 0 : nodes.front().chains_after; }
};

// Without nodes if one of the ends wasn't measured. Costs configurations times factors.
chain_lattice chains_between(const configuration_index& measured, const configuration& from,
                             const configuration& to);

}  // namespace lab

#endif
