// weir report, internal: an axis of a plot: its unit, its bounds, its ticks, linear or logarithmic
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_PLOT_AXIS_HPP
#define WEIR_REPORT_PLOT_AXIS_HPP

#include <weir/platform/bounds.hpp>
#include <weir/report/markup.hpp>

#include <algorithm>  // for std::max, std::min, std::sort
#include <cmath>      // for std::ceil, std::floor, std::log10, std::pow
#include <cstddef>    // for std::size_t
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

// What a figure is of: nanoseconds, things, things a second, parts of 1.
enum class figure_kind { time, count, rate, share };

// Where there is no figure: none is negative. No NaN, which -ffast-math doesn't tell from numbers.
inline constexpr double no_value = -1;
[[nodiscard]] constexpr bool is_figure(double value) noexcept { return value >= 0; }

struct plot_tick {
    double place = 0;  // 0 to 1
    std::string text;
};

// A unit and how many of what was measured it is.
struct plot_unit {
    double scale;
    const char* name;
};

[[nodiscard]] inline std::vector<plot_unit> units_of(figure_kind what) {
    switch (what) {
        case figure_kind::time:
            return {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}, {6e11, "min"}, {3.6e13, "h"}};
        case figure_kind::share:
            return {{0.01, "%"}};
        case figure_kind::rate:
            return {{1, "/s"}, {1e4, "k/s"}, {1e7, "M/s"}, {1e10, "G/s"}};
        case figure_kind::count:
            break;
    }
    return {{1, ""}, {1e4, "k"}, {1e7, "M"}, {1e10, "G"}};
}

// The greatest one in which the greatest figure isn't tiny. Minutes and hours come in at ten of them,
// thousands at ten thousand: that is where the table above has them.
[[nodiscard]] inline plot_unit unit_for(figure_kind what, double greatest) {
    const std::vector<plot_unit> all = units_of(what);
    std::size_t i = 0;
    while (i + 1 < all.size() && greatest >= all[i + 1].scale) ++i;
    plot_unit chosen = all[i];
    if (what == figure_kind::share) return chosen;
    const bool long_time = what == figure_kind::time && chosen.scale > 1e9;
    if (long_time || (what != figure_kind::time && i > 0)) chosen.scale /= 10;
    return chosen;
}

class plot_axis {
  public:
    // From 0 on, in steps of 1, 2 or 5.
    [[nodiscard]] static plot_axis linear(figure_kind what, double greatest, double most_steps = 5) {
        plot_axis axis(unit_for(what, greatest));
        const double top = greatest > 0 ? greatest / axis.unit_.scale : 1;
        double step = std::pow(10.0, std::floor(std::log10(top / most_steps)));
        for (const double factor : {2.0, 2.5, 2.0}) {
            if (top / step > most_steps + 1e-9) step *= factor;
        }
        axis.greatest_ = std::ceil(top / step - 1e-9) * step;
        for (double n = 0; n * step <= axis.greatest_ * (1 + 1e-9); ++n)
            axis.ticks_.push_back({n * step / axis.greatest_, short_number(n * step)});
        return axis;
    }
    // Exactly as long as what is shown.
    [[nodiscard]] static plot_axis of_length(figure_kind what, double greatest) {
        plot_axis axis = linear(what, greatest, 6);
        if (greatest <= 0) return axis;
        const double longer = axis.greatest_;
        axis.greatest_ = greatest / axis.unit_.scale;
        std::vector<plot_tick> ticks;
        for (plot_tick& t : axis.ticks_) {
            t.place *= longer / axis.greatest_;
            if (t.place <= 1 + 1e-9) ticks.push_back(std::move(t));
        }
        axis.ticks_ = std::move(ticks);
        return axis;
    }
    // Decades; 0 has a place of its own below them.
    [[nodiscard]] static plot_axis logarithmic(figure_kind what, double least, double greatest, bool zero) {
        plot_axis axis(unit_for(what, greatest));
        axis.logarithmic_ = true;
        axis.below_ = zero ? 0.09 : 0;
        const double first = std::floor(std::log10(least) + 1e-9);
        const double last = (std::max)(std::ceil(std::log10(greatest) - 1e-9), first + 1);
        axis.least_ = std::pow(10.0, first) / axis.unit_.scale;
        axis.greatest_ = std::pow(10.0, last) / axis.unit_.scale;
        if (zero) axis.ticks_.push_back({0, "0"});
        const double every = std::ceil((last - first) / 6);
        for (double decade = first; decade <= last; decade += every) {
            const double value = std::pow(10.0, decade);
            axis.ticks_.push_back({axis.place(value / axis.unit_.scale), text_of(what, value)});
        }
        return axis;
    }
    // Of series, and the figure of each over all: logarithmic where these differ by more than 50 times (if
    // `by_differences`), or one figure of a series is that much greater than all of these.
    [[nodiscard]] static plot_axis fitting(figure_kind what, const std::vector<std::vector<double>>& series,
                                           const std::vector<double>& over_all, bool by_differences) {
        if (what == figure_kind::share) return linear(what, 1);
        double least = 0;
        double greatest = 0;
        bool zero = false;
        for (const auto& each : series) {
            for (const double v : each) {
                if (v > 0) least = least > 0 ? (std::min)(least, v) : v;
                greatest = (std::max)(v, greatest);
                zero = zero || are_equal(v, 0);
            }
        }
        double low = 0;
        double high = 0;
        for (const double v : over_all) {
            if (v > 0) low = low > 0 ? (std::min)(low, v) : v;
            high = (std::max)(v, high);
        }
        const bool wide = (by_differences && high > 50 * low) || greatest > 50 * high;
        return wide && low > 0 ? logarithmic(what, least, greatest, zero) : linear(what, greatest);
    }

    // The unit of `place`, in what was measured.
    [[nodiscard]] double scale() const noexcept { return unit_.scale; }
    [[nodiscard]] const char* unit() const noexcept { return unit_.name; }
    [[nodiscard]] bool is_logarithmic() const noexcept { return logarithmic_; }
    [[nodiscard]] const std::vector<plot_tick>& ticks() const noexcept { return ticks_; }

    // 0 to 1, of a figure in this axis' unit.
    [[nodiscard]] double place(double value) const noexcept {
        double at = value / greatest_;
        if (logarithmic_) {
            if (value <= 0) return 0;
            at = below_ + (1 - below_) * std::log10(value / least_) / std::log10(greatest_ / least_);
        }
        return (std::min)((std::max)(at, 0.0), 1.0);
    }

  private:
    explicit plot_axis(plot_unit unit) : unit_(unit) {}

    // A power of ten with its own unit.
    static std::string text_of(figure_kind what, double value) {
        plot_unit fit{1, what == figure_kind::rate ? "/s" : ""};
        if (what == figure_kind::time) {
            fit = value >= 1e9 ? plot_unit{1e9, "s"} : unit_for(what, value);
        } else if (value >= 1e3) {
            const bool million = value >= 1e6;
            const bool rate = what == figure_kind::rate;
            fit = {million ? 1e6 : 1e3, million ? (rate ? "M/s" : "M") : (rate ? "k/s" : "k")};
        }
        const std::string number = short_number(value / fit.scale);
        return *fit.name == '\0' ? number : number + " " + fit.name;
    }

    plot_unit unit_;
    bool logarithmic_ = false;
    double least_ = 0;  // in that unit
    double greatest_ = 1;
    double below_ = 0;  // what of the axis belongs to 0
    std::vector<plot_tick> ticks_;
};

}  // namespace weir::detail

#endif
