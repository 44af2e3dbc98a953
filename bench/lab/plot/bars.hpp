// lab plot: horizontal bars about 0, one row per treatment
#ifndef LAB_PLOT_BARS_HPP
#define LAB_PLOT_BARS_HPP

#include "lab/plot/plot.hpp"

#include <limits>
#include <string>
#include <vector>

namespace lab {

struct bar {
    double value = std::numeric_limits<double>::quiet_NaN();  // NaN: no bar
    double low = std::numeric_limits<double>::quiet_NaN();    // of its whisker
    double high = std::numeric_limits<double>::quiet_NaN();
};

struct bar_row {
    std::string name;
    std::vector<bar> bars;  // one a series
    std::string note;       // at the right
};

struct bar_chart {
    std::vector<bar_row> rows;
    std::vector<std::string> series;  // names; of a single series bars are coloured by whether they help
    std::string axis;
    std::string note;  // above the notes
    bool more_is_better = false;
};

// Whiskers that are more than twice as long as the longest bar are cut; says whether any is.
bool draw_bars(plot& onto, const bar_chart& chart);

}  // namespace lab

#endif
