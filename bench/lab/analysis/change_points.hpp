// lab analysis: finds the times at which a series of measurements changed
#ifndef LAB_ANALYSIS_CHANGE_POINTS_HPP
#define LAB_ANALYSIS_CHANGE_POINTS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lab {

struct change_point {
    std::size_t at = 0;  // the first value of the new state
    double q = 0;        // the energy statistic there
    double p = 1;        // of permutations
};

struct change_options {
    std::size_t least = 5;  // values in a state
    std::size_t permutations = 199;
    double significance = 0.05;
    std::uint64_t seed = 1;
};

// The split with the largest energy statistic (Szekely & Rizzo, 2005): how much farther values of different parts are
// from each other than those of one part, times the product of both sizes over their sum. Of all splits with at least
// `least` values on both sides; at = 0 if there is none. Costs n^2.
change_point best_split(const std::vector<double>& values, std::size_t least);

// E-divisive (Matteson & James, "A nonparametric approach for multiple change point analysis of multivariate data",
// 2014; each part is looked at to its end, as MongoDB does, "The use of change point detection to identify software
// performance regressions", 2020): the best split of all parts, while permutations within the parts seldom give one as
// good. In order of place.
std::vector<change_point> change_points(const std::vector<double>& values, const change_options& options);

}  // namespace lab

#endif
