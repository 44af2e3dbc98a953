// lab plot: maps figures to positions, with ticks at round figures
#ifndef LAB_PLOT_SCALE_HPP
#define LAB_PLOT_SCALE_HPP

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

struct scale_tick {
    double value = 0;
    std::string text;
};

// From the position `from` to the position `to`, which may be smaller.
class scale {
  public:
    // A linear scale that ends at ticks. There are about `steps` ticks, at multiples of 1, 2, 2.5 or 5 times a
    // power of ten.
    static scale linear(double low, double high, std::size_t steps);
    // A logarithmic scale for positive figures. It ends at the figures, with ticks at 1, 2 and 5 times powers
    // of ten.
    static scale logarithmic(double low, double high);

    scale& between(double from, double to);
    // Figures beyond an end are put at this end.
    [[nodiscard]] double at(double value) const;
    [[nodiscard]] const std::vector<scale_tick>& ticks() const { return ticks_; }
    [[nodiscard]] double low() const { return low_; }
    [[nodiscard]] double high() const { return high_; }
    [[nodiscard]] double from() const { return from_; }
    [[nodiscard]] double to() const { return to_; }
    // The width of the widest text.
    [[nodiscard]] double width_of_ticks() const;

  private:
    double low_ = 0;
    double high_ = 1;
    double from_ = 0;
    double to_ = 1;
    bool logarithmic_ = false;
    std::vector<scale_tick> ticks_;
};

}  // namespace lab

#endif
