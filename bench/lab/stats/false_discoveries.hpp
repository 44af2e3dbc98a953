// lab stats: false-discovery rates of many tests
#ifndef LAB_STATS_FALSE_DISCOVERIES_HPP
#define LAB_STATS_FALSE_DISCOVERIES_HPP

#include <vector>

namespace lab {

// Of each p the least false-discovery rate at which it is among the discoveries (Benjamini & Hochberg, 1995). NaN
// stays NaN, and isn't counted.
std::vector<double> false_discovery_rates(const std::vector<double>& probabilities);

}  // namespace lab

#endif
