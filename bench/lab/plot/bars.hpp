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
    double low = std::numeric_limits<double>::quiet_NaN();    // begin of its whisker
    double high = std::numeric_limits<double>::quiet_NaN();
};

struct bar_row {
    std::string name;
    std::vector<bar> bars;  // one per series
    std::string note;       // text at the right
};

struct bar_chart {
    std::vector<bar_row> rows;
    std::vector<std::string> series;  // names; with one series the colour shows whether a treatment helps
    std::string axis;
    std::string note;  // above the notes
    bool more_is_better = false;
};

// Whiskers more than twice as long as the longest bar are cut; returns whether any is.
bool draw_bars(plot& onto, const bar_chart& chart);

}  // namespace lab

#endif
