// lab design: improves a plan by changing one value of one run at a time
#ifndef LAB_DESIGN_EXCHANGE_HPP
#define LAB_DESIGN_EXCHANGE_HPP

#include "lab/design/factor_file.hpp"

#include <cstddef>
#include <random>
#include <vector>

namespace lab {

// Plans in which each level occurs equally often, each pair of levels equally often, and so on, as far as
// constraints allow: coordinate exchange minimises the discrete discrepancy (Hickernell & Liu, "Uniform designs
// limit aliasing", 2002), which weighs aliasing with k factors by rho^k. It starts from orthogonal plans of the
// factors with two values, if there are such plans, and from random plans. Neither kind of plan changes the
// builds (whole_plots.hpp).
std::vector<configuration> balanced_plan(const factor_file& file,
                                         const std::vector<std::vector<double>>& values, std::size_t runs,
                                         std::mt19937_64& random,
                                         const std::vector<configuration>& builds = {});

// Plans that maximise the determinant of the products of the model's columns, by coordinate exchange (Meyer &
// Nachtsheim, "The coordinate-exchange algorithm", 1995), from random plans; with pairs the model has them,
// too. With fewer runs than columns, a small ridge on pairs decides which columns are needed least (DuMouchel &
// Jones, 1994).
std::vector<configuration> d_optimal_plan(const factor_file& file,
                                          const std::vector<std::vector<double>>& values, std::size_t runs,
                                          bool pairs, std::mt19937_64& random,
                                          const std::vector<configuration>& builds = {});

}  // namespace lab

#endif
