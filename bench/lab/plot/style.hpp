// lab plot: the style of plots, light and dark
#ifndef LAB_PLOT_STYLE_HPP
#define LAB_PLOT_STYLE_HPP

#include <string>

namespace lab {

// The classes of all plots, as CSS with plain colours: viewers of SVG know no variables.
std::string svg_style();
// Of the page around them.
extern const char* const page_style;

// The class of a figure from -1 (blue) over 0 (grey) to 1 (orange), of 15; told apart by those who see no red, no
// green or no blue.
std::string level_style(double share);
// Whether text on it has to have the colour of the background.
bool is_strong_level(double share);

}  // namespace lab

#endif
