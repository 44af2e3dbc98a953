// lab plot: shapes and text as SVG
#ifndef LAB_PLOT_CANVAS_HPP
#define LAB_PLOT_CANVAS_HPP

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

// One unit is a pixel if the plot is as wide as plot_width; text is 12 units high.
inline constexpr double plot_width = 440;

// A coordinate, rounded to a tenth of a unit.
std::string coordinate(double value);
// The approximate width of a text.
double text_width(const std::string& text);
// Divides a text into lines of at most this many columns, at blanks.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns);

// Styles are classes of style.hpp, separated by blanks. Texts are escaped. A `tip` is shown at the pointer.
class canvas {
  public:
    void rectangle(double x, double y, double width, double height, const std::string& style,
                   const std::string& tip = {});
    void path(const std::string& way, const std::string& style, const std::string& tip = {});
    void line(double x1, double y1, double x2, double y2, const std::string& style);
    // Style "m" centres it at x, "e" ends it there.
    void text(double x, double y, const std::string& what, const std::string& style = {},
              const std::string& tip = {});
    // From y downwards; the text reads from bottom to top.
    void upright_text(double x, double y, const std::string& what, const std::string& style,
                      const std::string& tip);

    [[nodiscard]] const std::string& content() const { return content_; }

  private:
    void end(const char* element, const std::string& tip);

    std::string content_;
};

}  // namespace lab

#endif
