// lab plot: the style of plots, light and dark
#ifndef LAB_PLOT_STYLE_HPP
#define LAB_PLOT_STYLE_HPP

#include <string>

namespace lab {

// The classes of all plots, as CSS without variables, which SVG viewers don't support.
std::string svg_style();
// The style of the page around the plots.
extern const char* const page_style;

// The class of a figure from -1 (blue) over 0 (grey) to 1 (orange), one of 15. The colours are distinguishable
// for the colour-blind.
std::string level_style(double share);
// Whether text on this colour needs the colour of the background.
bool is_strong_level(double share);

}  // namespace lab

#endif
