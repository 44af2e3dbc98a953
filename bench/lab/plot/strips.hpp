// lab plot: each treatment's deltas as coloured strips, from slow to fast
#ifndef LAB_PLOT_STRIPS_HPP
#define LAB_PLOT_STRIPS_HPP

#include "lab/plot/plot.hpp"

#include <string>
#include <vector>

namespace lab {

struct strip {
    double before = 0;
    double log2 = 0;  // of after / before
};

struct strip_row {
    std::string name;
    std::vector<strip> strips;
};

struct strip_chart {
    std::vector<strip_row> rows;
    std::string axis;
    bool more_is_better = false;
};

// The size that 95 % of all strips do not exceed, so that a few extremes don't make the others pale.
double colour_limit(const std::vector<strip_row>& rows);

// Slow configurations are at the left. Blue is faster than before, orange slower. At most most_points are
// drawn.
void draw_strips(plot& onto, const strip_chart& chart);

}  // namespace lab

#endif
