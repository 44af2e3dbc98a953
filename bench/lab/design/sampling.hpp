// lab design: configurations drawn at random, around one configuration, and all of them
#ifndef LAB_DESIGN_SAMPLING_HPP
#define LAB_DESIGN_SAMPLING_HPP

#include "lab/design/factor_file.hpp"

#include <cstddef>
#include <random>
#include <vector>

namespace lab {

// The values of each factor in a plan: all levels; for a number, `number_levels` values from its lowest to its
// highest, evenly or by logarithm, rounded for whole numbers, and the values in constraints.
std::vector<std::vector<double>> planned_values(const factor_file& file, std::size_t number_levels);

// Draws a configuration that satisfies all constraints: factors in random order, each at a random value of
// those that remain possible; it goes back if none remains. Throws input_error if there is no configuration.
configuration random_configuration(const factor_file& file, const std::vector<std::vector<double>>& values,
                                   std::mt19937_64& random);

// Draws `count` configurations, none twice as long as possible, builds in turn (whole_plots.hpp).
std::vector<configuration> random_configurations(const factor_file& file,
                                                 const std::vector<std::vector<double>>& values,
                                                 std::size_t count, std::mt19937_64& random,
                                                 const std::vector<configuration>& builds = {});

// `centre`, and all configurations that differ from it in one factor and satisfy all constraints.
std::vector<configuration> around(const factor_file& file, const std::vector<std::vector<double>>& values,
                                  const configuration& centre);

// All configurations that satisfy the constraints. Throws input_error if there are more than `most`.
std::vector<configuration> all_configurations(const factor_file& file,
                                              const std::vector<std::vector<double>>& values,
                                              std::size_t most);

}  // namespace lab

#endif
