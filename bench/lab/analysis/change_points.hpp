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
    double p = 1;        // of the permutation test
};

struct change_options {
    std::size_t least = 5;  // number of values in a state
    std::size_t permutations = 199;
    double significance = 0.05;
    std::uint64_t seed = 1;
};

// The split with the largest energy statistic (Szekely & Rizzo, 2005): the distance between values of different
// parts minus that within the parts, times the product of both sizes divided by their sum. Both sides have at least
// `least` values; at = 0 if there is no such split. Cost: n^2.
change_point best_split(const std::vector<double>& values, std::size_t least);

// E-divisive (Matteson & James, "A nonparametric approach for multiple change point analysis of multivariate data",
// 2014; each part is divided to its end, as in MongoDB, "The use of change point detection to identify software
// performance regressions", 2020): takes the best split of all parts as long as permutations within the parts
// seldom give one as good. The result is ordered by place.
std::vector<change_point> change_points(const std::vector<double>& values, const change_options& options);

}  // namespace lab

#endif
