// lab plot: finds plots by name
#ifndef LAB_PLOT_PLOTS_HPP
#define LAB_PLOT_PLOTS_HPP

#include "lab/plot/plot.hpp"
#include "lab/plot/study.hpp"

#include <string>
#include <vector>

namespace lab {

// In the order in which they are shown.
std::vector<std::string> plot_names();

// Those named, or all if none is. Throws input_error for a name that there isn't.
std::vector<plot> plots_of(study& of, const std::vector<std::string>& only);

}  // namespace lab

#endif
