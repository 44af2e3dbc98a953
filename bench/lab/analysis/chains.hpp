// lab analysis: all chains of measured configurations between two of them
#ifndef LAB_ANALYSIS_CHAINS_HPP
#define LAB_ANALYSIS_CHAINS_HPP

#include "lab/data/configuration_index.hpp"

#include <cstddef>
#include <vector>

namespace lab {

// A step of a chain: one more factor takes the value that it has at the end of the chain.
struct chain_step {
    std::size_t factor = 0;
    std::size_t to = 0;  // place in chain_lattice::nodes
};

struct chain_node {
    std::size_t place = 0;    // in configuration_index::all()
    double chains_here = 0;   // chains from the beginning to this node
    double chains_after = 0;  // chains from this node to the end
    std::vector<chain_step> steps;
};

// Measured configurations in which each factor has its value of `from` or of `to`, ordered by the number of changed
// factors. The first is `from`, the last `to`. Each is in chains_here * chains_after chains.
struct chain_lattice {
    std::vector<std::size_t> changed;  // the factors that differ between the ends
    std::vector<chain_node> nodes;
    [[nodiscard]] double num_chains() const { return nodes.empty() ? 0 : nodes.front().chains_after; }
};

// Has no nodes if one of the ends was not measured. Cost: configurations times factors.
chain_lattice chains_between(const configuration_index& measured, const configuration& from,
                             const configuration& to);

}  // namespace lab

#endif
