// lab plot: maps figures to positions, with ticks at round figures
#include "lab/plot/scale.hpp"

#include "lab/data/numbers.hpp"
#include "lab/plot/canvas.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace lab {

namespace {

double round_step(double span, double steps) {
    const double rough = span / steps;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 2.5, 5.0})
        if (rough <= factor * power * (1 + 1e-9)) return factor * power;
    return 10 * power;
}

// With the decimals of the step; large figures with k, M, G.
std::string tick_text(double value, double step, double most) {
    static const std::array<std::pair<double, const char*>, 4> units{
        {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
    double divisor = 1;
    const char* suffix = "";
    for (const auto& [size, name] : units) {
        if (most >= (size > 1e3 ? size : 1e4)) {
            divisor = size;
            suffix = name;
            break;
        }
    }
    std::string text;
    int decimals = 0;
    for (double shown = step / divisor; decimals < 12 && std::abs(shown - std::round(shown)) > 1e-6 * shown;
         shown *= 10)
        ++decimals;
    if (std::abs(value) < step / 2) return "0";
    if (most >= 1e16 || most < 1e-3 || decimals > 6) {
        text = short_text(value, 3);
    } else {
        char digits[64];
        const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value / divisor,
                                                std::chars_format::fixed, decimals);
        text = error == std::errc{} ? std::string(digits, end) + suffix : short_text(value, 3);
    }
    return text.front() == '-' ? "−" + text.substr(1) : text;
}

}  // namespace

scale scale::linear(double low, double high, std::size_t steps) {
    if (!(low <= high) || !std::isfinite(low) || !std::isfinite(high)) {
        low = 0;
        high = 1;
    }
    // A span below the precision of its figures gets no ticks.
    const double size = std::max(std::abs(low), std::abs(high));
    if (high - low <= size * 1e-9) {
        const double wider = size > 0 ? size * 0.05 : 0.5;
        low -= wider;
        high += wider;
    }
    scale result;
    const double step = round_step(high - low, static_cast<double>(steps));
    const double first = std::floor(low / step + 1e-9);
    const double last = std::ceil(high / step - 1e-9);
    result.low_ = first * step;
    result.high_ = last * step;
    const double most = std::max(std::abs(result.low_), std::abs(result.high_));
    for (double i = first; i <= last; ++i)
        result.ticks_.push_back({i * step, tick_text(i * step, step, most)});
    return result;
}

scale scale::logarithmic(double low, double high) {
    scale result;
    result.logarithmic_ = true;
    result.low_ = low;
    result.high_ = std::max(high, low * 1.01);
    const double first = std::floor(std::log10(low));
    const double last = std::ceil(std::log10(result.high_));
    const bool all = last - first <= 3;
    const double every = std::ceil((last - first) / 8);
    for (double decade = first; decade <= last; decade += every) {
        for (const double factor : {1.0, 2.0, 5.0}) {
            const double value = factor * std::pow(10.0, decade);
            if (factor > 1 && !all) continue;
            if (value < low * (1 - 1e-9) || value > result.high_ * (1 + 1e-9)) continue;
            result.ticks_.push_back({value, tick_text(value, value, value)});
        }
    }
    return result;
}

scale& scale::between(double from, double to) {
    from_ = from;
    to_ = to;
    return *this;
}

double scale::at(double value) const {
    double place = 0;
    if (logarithmic_) {
        place = value > 0 ? std::log(value / low_) / std::log(high_ / low_) : 0;
    } else {
        place = (value - low_) / (high_ - low_);
    }
    return from_ + std::clamp(place, 0.0, 1.0) * (to_ - from_);
}

double scale::width_of_ticks() const {
    double width = 0;
    for (const scale_tick& tick : ticks_) width = std::max(width, text_width(tick.text));
    return width;
}

}  // namespace lab
