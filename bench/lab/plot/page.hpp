// lab plot: writes plots as SVG files, and as one self-contained page
#ifndef LAB_PLOT_PAGE_HPP
#define LAB_PLOT_PAGE_HPP

#include "lab/data/run_table.hpp"
#include "lab/plot/plot.hpp"

#include <string>
#include <vector>

namespace lab {

// A complete SVG file, with its style.
std::string svg_file(const plot& p);

// A page of all plots, with a sentence under each.
std::string plots_page(const run_table& table, const std::vector<plot>& plots);

}  // namespace lab

#endif
