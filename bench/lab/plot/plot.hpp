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
    std::string name;      // of its file: "means"
    std::string title;     // "Means: what each treatment changes"
    std::string sentence;  // what it shows in these data; of an empty one why it is
    bool empty = false;
    double height = 0;
    double least_width = 0;  // in pixels: on a narrower screen it is moved sideways
    std::string content;     // shapes and text
};

// Whose drawing is the reason.
plot empty_plot(const std::string& name, const std::string& title, const std::string& reason);

// Places of at most `most` of so many points, in their order; which are left out doesn't depend on that order's
// pattern, and is the same every time.
std::vector<std::size_t> thinned(std::size_t points, std::size_t most);
inline constexpr std::size_t most_points = 4000;
// " (4000 of 14543 points are drawn)", or nothing.
std::string thinned_text(std::size_t points);

// A colour of the legend, and its meaning.
struct legend_entry {
    std::string style;
    std::string text;
    bool is_mark = false;  // the style is a dot's, not an area's
};
// One below the other; answers where what follows may begin.
double draw_legend(canvas& on, double left, double top, const std::vector<legend_entry>& entries);

// Mark number `style` (0: a dot, 1: a triangle) of a scatter; of many triangles small ones.
std::string dot_way(double x, double y, int style, bool many = false);

// At most so many columns, its middle left out: long names often differ at their end.
std::string short_name(const std::string& name, std::size_t columns);

// Row names at the left: told apart though shortened, and how wide they are.
struct row_labels {
    explicit row_labels(const std::vector<std::string>& names);
    std::vector<std::string> texts;
    double width = 0;
};

}  // namespace lab

#endif
