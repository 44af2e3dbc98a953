// lab plot: one plot: its drawing, and a sentence that explains it
#ifndef LAB_PLOT_PLOT_HPP
#define LAB_PLOT_PLOT_HPP

#include "lab/plot/canvas.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lab {

struct plot {
    std::string name;      // file name: "means"
    std::string title;     // "Means: what each treatment changes"
    std::string sentence;  // explains the plot of these data, or why it is empty
    bool empty = false;
    double height = 0;
    double least_width = 0;  // in pixels; on a narrower screen the plot scrolls sideways
    std::string content;     // shapes and text
};

// A plot that shows only the reason why it is empty.
plot empty_plot(const std::string& name, const std::string& title, const std::string& reason);

// The places of at most `most` of this many points, in their order. The selection does not depend on patterns
// in this order, and is the same every time.
std::vector<std::size_t> thinned(std::size_t points, std::size_t most);
inline constexpr std::size_t most_points = 4000;
// " (4000 of 14543 points are drawn)", or an empty text.
std::string thinned_text(std::size_t points);

// A colour of the legend, and its meaning.
struct legend_entry {
    std::string style;
    std::string text;
    bool is_mark = false;  // the style is that of a dot, not of an area
};
// Draws them one below the other; returns the next free position.
double draw_legend(canvas& on, double left, double top, const std::vector<legend_entry>& entries);

// Mark number `style` (0: a dot, 1: a triangle) of a scatter plot; small ones if there are many triangles.
std::string dot_way(double x, double y, int style, bool many = false);

// At most this many columns, with the middle left out, because long names often differ at their end.
std::string short_name(const std::string& name, std::size_t columns);

// Row names at the left: shortened, but different, and their width.
struct row_labels {
    explicit row_labels(const std::vector<std::string>& names);
    std::vector<std::string> texts;
    double width = 0;
};

}  // namespace lab

#endif
