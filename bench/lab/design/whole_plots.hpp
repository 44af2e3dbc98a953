// lab design: plans with few builds and many runs each: whole plots
#ifndef LAB_DESIGN_WHOLE_PLOTS_HPP
#define LAB_DESIGN_WHOLE_PLOTS_HPP

#include "lab/design/factor_file.hpp"

#include <cstddef>
#include <random>
#include <vector>

namespace lab {

// The default number of builds of a plan: twice as many as are needed to estimate the effects of factors that
// are hard to change one by one, so that differences between builds can be estimated, too; at most half of
// `runs`.
std::size_t usual_builds(const factor_file& file, std::size_t runs);

// This number of configurations, or slightly fewer, that differ in the factors that are hard to change,
// balanced. Empty if no factor is hard to change, or if there are not more combinations than that: each
// combination then is in the plan.
std::vector<configuration> whole_plots(const factor_file& file,
                                       const std::vector<std::vector<double>>& values, std::size_t count,
                                       std::mt19937_64& random);

// The values that run number `run` of a plan may have: for factors that are hard to change, the value of
// builds[run % builds.size()]; all `values` if there are no builds.
std::vector<std::vector<double>> values_of_run(const factor_file& file,
                                               const std::vector<std::vector<double>>& values,
                                               const std::vector<configuration>& builds, std::size_t run);

}  // namespace lab

#endif
