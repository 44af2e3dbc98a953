// lab plot: shapes and text as SVG
#ifndef LAB_PLOT_CANVAS_HPP
#define LAB_PLOT_CANVAS_HPP

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

// One unit is a pixel where a plot is as wide as plot_width; text is 12 of them high.
inline constexpr double plot_width = 440;

// A coordinate, a tenth of a unit exact.
std::string coordinate(double value);
// About how wide a text is.
double text_width(const std::string& text);
// In lines of at most so many columns, broken at blanks.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns);

// Styles are the classes of style.hpp, blanks between them. Texts are escaped; a `tip` is shown where the pointer is.
class canvas {
  public:
    void rectangle(double x, double y, double width, double height, const std::string& style,
                   const std::string& tip = {});
    void path(const std::string& way, const std::string& style, const std::string& tip = {});
    void line(double x1, double y1, double x2, double y2, const std::string& style);
    // Style "m" centres it at x, "e" ends it there.
    void text(double x, double y, const std::string& what, const std::string& style = {},
              const std::string& tip = {});
    // From y downwards, read from below.
    void upright_text(double x, double y, const std::string& what, const std::string& style,
                      const std::string& tip);

    [[nodiscard]] const std::string& content() const { return content_; }

  private:
    void end(const char* element, const std::string& tip);

    std::string content_;
};

}  // namespace lab

#endif
