// lab plot: finds plots by name
#ifndef LAB_PLOT_PLOTS_HPP
#define LAB_PLOT_PLOTS_HPP

#include "lab/plot/plot.hpp"
#include "lab/plot/study.hpp"

#include <string>
#include <vector>

namespace lab {

// The names of all plots, in the order of the page.
std::vector<std::string> plot_names();

// The named plots, or all if none is named. Throws input_error for an unknown name.
std::vector<plot> plots_of(study& of, const std::vector<std::string>& only);

}  // namespace lab

#endif
