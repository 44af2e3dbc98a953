// lab design: configurations drawn at random, around one configuration, and all of them
#ifndef LAB_DESIGN_SAMPLING_HPP
#define LAB_DESIGN_SAMPLING_HPP

#include "lab/design/factor_file.hpp"

#include <cstddef>
#include <random>
#include <vector>

namespace lab {

// What each factor is set to in a plan: all levels; of a number `number_levels` values from its lowest to its highest,
// evenly, or evenly by their logarithms, whole if it is, and those that constraints name.
std::vector<std::vector<double>> planned_values(const factor_file& file, std::size_t number_levels);

// One that breaks no constraint: factors in an order by lot, each at a value by lot of those that the ones before
// leave; it goes back where none is left. Throws input_error if there is none.
configuration random_configuration(const factor_file& file, const std::vector<std::vector<double>>& values,
                                   std::mt19937_64& random);

// `count` of them, none twice as long as that can be done, the builds in turn (whole_plots.hpp).
std::vector<configuration> random_configurations(const factor_file& file,
                                                 const std::vector<std::vector<double>>& values,
                                                 std::size_t count, std::mt19937_64& random,
                                                 const std::vector<configuration>& builds = {});

// `centre`, and all that differ from it in one factor and break no constraint.
std::vector<configuration> around(const factor_file& file, const std::vector<std::vector<double>>& values,
                                  const configuration& centre);

// All that break no constraint. Throws input_error if there are more than `most`.
std::vector<configuration> all_configurations(const factor_file& file,
                                              const std::vector<std::vector<double>>& values,
                                              std::size_t most);

}  // namespace lab

#endif
