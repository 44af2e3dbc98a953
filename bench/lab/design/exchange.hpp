// lab design: improves a plan by changing one value of one run at a time
#ifndef LAB_DESIGN_EXCHANGE_HPP
#define LAB_DESIGN_EXCHANGE_HPP

#include "lab/design/factor_file.hpp"

#include <cstddef>
#include <random>
#include <vector>

namespace lab {

// Each level in as many runs as the others, each two levels together in as many, and so on, as far as constraints let
// it: the discrete discrepancy (Hickernell & Liu, "Uniform designs limit aliasing", 2002), which weighs what is aliased
// with k factors by rho^k, made smaller by coordinate exchange. Starts from orthogonal plans of the factors with two
// values, where there are such, and from lots. Both kinds of plans leave the builds as they are (whole_plots.hpp).
std::vector<configuration> balanced_plan(const factor_file& file,
                                         const std::vector<std::vector<double>>& values, std::size_t runs,
                                         std::mt19937_64& random,
                                         const std::vector<configuration>& builds = {});

// The determinant of the products of the model's columns made larger by coordinate exchange (Meyer & Nachtsheim,
// "The coordinate-exchange algorithm", 1995), from lots; with pairs the model has them. With fewer runs than
// columns those that are least needed are those that a small ridge on pairs says so of (DuMouchel & Jones, 1994).
std::vector<configuration> d_optimal_plan(const factor_file& file,
                                          const std::vector<std::vector<double>>& values, std::size_t runs,
                                          bool pairs, std::mt19937_64& random,
                                          const std::vector<configuration>& builds = {});

}  // namespace lab

#endif
