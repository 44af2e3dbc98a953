// lab plot: a path from slow to fast as steps of bars
#ifndef LAB_PLOT_WATERFALL_HPP
#define LAB_PLOT_WATERFALL_HPP

#include "lab/plot/plot.hpp"

#include <string>
#include <vector>

namespace lab {

struct waterfall_step {
    std::string name;
    double before = 0;
    double after = 0;
};

struct waterfall {
    std::string start_name;
    std::vector<waterfall_step> steps;  // at least one; each begins where the one before ends
    std::string axis;
    bool more_is_better = false;
};

void draw_waterfall(plot& onto, const waterfall& what);

}  // namespace lab

#endif
