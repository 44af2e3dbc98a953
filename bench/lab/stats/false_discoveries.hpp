// lab stats: false-discovery rates of many tests
#ifndef LAB_STATS_FALSE_DISCOVERIES_HPP
#define LAB_STATS_FALSE_DISCOVERIES_HPP

#include <vector>

namespace lab {

// For each p, the smallest false-discovery rate at which it is a discovery (Benjamini & Hochberg, 1995). NaN
// stays NaN, and does not count as a test.
std::vector<double> false_discovery_rates(const std::vector<double>& probabilities);

}  // namespace lab

#endif
