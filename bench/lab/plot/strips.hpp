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

// Below which 95 % of the sizes of all strips are, so that a few extremes don't fade the others.
double colour_limit(const std::vector<strip_row>& rows);

// The slow at the left. Blue is less than before, orange more. Thinned to most_points.
void draw_strips(plot& onto, const strip_chart& chart);

}  // namespace lab

#endif
