// lab plot: points of figures before and after, or predicted and measured, with the diagonal
#ifndef LAB_PLOT_SCATTER_HPP
#define LAB_PLOT_SCATTER_HPP

#include "lab/plot/plot.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lab {

struct scatter_point {
    double x = 0;
    double y = 0;
    int style = 0;  // 0: a blue dot; 1: an orange triangle
};

struct fitted_line {
    double intercept = 0;
    double slope = 1;
    std::optional<double> crosses_at;
};

struct scatter {
    std::vector<scatter_point> points;
    std::vector<legend_entry> legend;
    std::string x_name;
    std::string y_name;
    std::string diagonal;  // meaning of the diagonal: "no change"
    std::optional<fitted_line> line;
};

// Both axes have the same scale. At most most_points points are drawn.
void draw_scatter(plot& onto, const scatter& what);

}  // namespace lab

#endif
