// lab analysis: compares A and B: B is faster, slower, the same, or undecided
#ifndef LAB_ANALYSIS_COMPARISON_HPP
#define LAB_ANALYSIS_COMPARISON_HPP

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

// The costs of one task of both sides: a configuration, or a pair of successive runs.
struct compared_costs {
    std::string name;
    std::vector<double> a;
    std::vector<double> b;
};

struct comparison_options {
    double confidence = 0.95;
    double sure =
        0.99;  // confidence of "faster" and "slower", so that daily comparisons give few false alarms
    double threshold = 0.01;  // a smaller difference counts as none
    bool more_is_better = false;
};

struct comparison {
    std::string verdict;  // "faster", "slower", "same", "undecided"
    std::string why;      // reason of "undecided"
    double ratio = 0;     // B divided by A, of geometric means; NaN if unknown
    double low = 0;
    double high = 0;
    std::size_t num_compared = 0;  // tasks of both sides
    std::size_t num_a = 0;
    std::size_t num_b = 0;
};

// If each task was run at least twice on both sides: the mean of the log ratios, with the variance of runs (Welch,
// 1947). Otherwise, with at least three tasks: the variance of the log ratios (paired t). "same": the interval is
// within the threshold. "faster" or "slower": it is not, and the wider interval of `sure` is on one side of 1.
// Throws input_error if a cost is not positive.
comparison compare(const std::vector<compared_costs>& costs, const comparison_options& options);

}  // namespace lab

#endif
