// lab analysis: principal components of whole sequences of treatments
#ifndef LAB_ANALYSIS_SEQUENCES_HPP
#define LAB_ANALYSIS_SEQUENCES_HPP

#include "lab/data/run_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lab {

// One vector for each measured chain from the base to all treatments (P25): the change by each treatment in the
// order of the chain. Chains are drawn at random, each at most once. If a table has a complete chain, at least this
// one is found.
struct sequence_table {
    std::vector<std::string> treatments;
    std::vector<std::vector<double>> changes;  // one row per chain
};
sequence_table sequences_of(const run_table& table, std::size_t most, std::uint64_t seed);

struct principal_components {
    std::vector<std::string> treatments;
    std::vector<double>
        variances;  // the largest first; the sum of changes is the same for all chains, so the last is 0
    std::vector<double> shares;  // of the sum of the variances
    std::vector<std::vector<double>>
        loadings;  // [component][treatment], of length 1, its largest entry positive
    std::vector<std::vector<double>> scores;  // [component][chain]
};
principal_components components_of(const sequence_table& sequences);

}  // namespace lab

#endif
