// lab analysis: compares A and B: B is faster, slower, the same, or undecided
#ifndef LAB_ANALYSIS_COMPARISON_HPP
#define LAB_ANALYSIS_COMPARISON_HPP

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

// The costs of one thing that both did: a configuration, or a pair of runs one after the other.
struct compared_costs {
    std::string name;
    std::vector<double> a;
    std::vector<double> b;
};

struct comparison_options {
    double confidence = 0.95;
    double sure = 0.99;  // of "faster" and "slower": who asks every day isn't to hear one of them for nothing
    double threshold = 0.01;  // what is no difference
    bool more_is_better = false;
};

struct comparison {
    std::string verdict;  // "faster", "slower", "same", "undecided"
    std::string why;      // of "undecided"
    double ratio = 0;     // B over A: of geometric means; NaN where nothing can be said
    double low = 0;
    double high = 0;
    std::size_t num_compared = 0;  // things that both did
    std::size_t num_a = 0;
    std::size_t num_b = 0;
};

// Where each thing was run twice or more on both sides: the mean of their log ratios, with what runs vary by (Welch,
// 1947). Else, with at least three things: what their log ratios vary by (paired t). "same": the interval lies within the
// threshold; "faster" or "slower": it doesn't, and the wider one of `sure` lies on one side of 1. Throws input_error if a cost isn't positive.
comparison compare(const std::vector<compared_costs>& costs, const comparison_options& options);

}  // namespace lab

#endif
