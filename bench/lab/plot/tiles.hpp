// lab plot: interactions of two treatments, as tiles
#ifndef LAB_PLOT_TILES_HPP
#define LAB_PLOT_TILES_HPP

#include "lab/plot/plot.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

enum class tile_kind { none, known, aliased };

struct tile_table {
    std::vector<std::string> names;
    std::vector<std::vector<double>> values;  // symmetric
    std::vector<std::vector<tile_kind>> kinds;
    std::string unit;
};

// An order in which strong negative values are at the end: by the leading eigenvector of the negative part,
// which groups values that are strong together.
std::vector<std::size_t> seriated(const tile_table& tiles);

// Columns from left to right and rows from bottom to top in this order, so strong negative values are top
// right.
void draw_tiles(plot& onto, const tile_table& tiles);

// A bar with the colours from -most over 0 to most; returns the next free position.
double draw_colour_bar(canvas& on, double left, double top, double most, const std::string& unit);

}  // namespace lab

#endif
