// lab plot: shares as areas
#ifndef LAB_PLOT_TREEMAP_HPP
#define LAB_PLOT_TREEMAP_HPP

#include "lab/plot/plot.hpp"

#include <string>
#include <vector>

namespace lab {

struct area {
    std::string name;
    std::string text;  // the figure as text
    double size = 0;   // positive
    double level = 0;  // level of its colour (style.hpp)
};

struct box {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
};

// Boxes of these sizes that fill `whole`, as square as possible (Bruls, Huizing & van Wijk, "Squarified
// treemaps", 2000). `sizes` are positive, the largest first.
std::vector<box> squarified(const std::vector<double>& sizes, const box& whole);

// Sorts the boxes by size.
void draw_treemap(plot& onto, std::vector<area> areas);

}  // namespace lab

#endif
