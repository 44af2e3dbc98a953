// lab design: plans with few builds and many runs each: whole plots
#ifndef LAB_DESIGN_WHOLE_PLOTS_HPP
#define LAB_DESIGN_WHOLE_PLOTS_HPP

#include "lab/design/factor_file.hpp"

#include <cstddef>
#include <random>
#include <vector>

namespace lab {

// How many builds a plan has if nobody says: twice as many as are needed to tell the effects of what is hard to change
// one by one, so that the luck of builds can be told from them; at most a half of `runs`.
std::size_t usual_builds(const factor_file& file, std::size_t runs);

// So many configurations, or a few less, whose hard factors differ, balanced. None if nothing is hard to change, or
// there are not more combinations than that: each is then in the plan by itself.
std::vector<configuration> whole_plots(const factor_file& file,
                                       const std::vector<std::vector<double>>& values, std::size_t count,
                                       std::mt19937_64& random);

// What run number `run` of a plan chooses from: of hard factors it is what its build has, the one of
// builds[run % builds.size()]; all `values` if there are no builds.
std::vector<std::vector<double>> values_of_run(const factor_file& file,
                                               const std::vector<std::vector<double>>& values,
                                               const std::vector<configuration>& builds, std::size_t run);

}  // namespace lab

#endif
