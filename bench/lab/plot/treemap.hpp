// lab plot: shares as areas
#ifndef LAB_PLOT_TREEMAP_HPP
#define LAB_PLOT_TREEMAP_HPP

#include "lab/plot/plot.hpp"

#include <string>
#include <vector>

namespace lab {

struct area {
    std::string name;
    std::string text;  // its figure
    double size = 0;   // positive
    double level = 0;  // of its colour (style.hpp)
};

struct box {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
};

// Boxes of these sizes that fill `whole`, as square as they can be (Bruls, Huizing & van Wijk, "Squarified treemaps",
// 2000). `sizes`: positive, the greatest first.
std::vector<box> squarified(const std::vector<double>& sizes, const box& whole);

// Sorts them by size.
void draw_treemap(plot& onto, std::vector<area> areas);

}  // namespace lab

#endif
