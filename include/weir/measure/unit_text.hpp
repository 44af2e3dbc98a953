// weir measure: numbers as text with a unit that fits, the same in every locale
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_UNIT_TEXT_HPP
#define WEIR_MEASURE_UNIT_TEXT_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>

#include <charconv>  // for std::to_chars
#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <cstdlib>   // for std::abs
#include <string>    // for std::string

/// Readable text for numbers with units. Independent of the C and C++ locales: a report is the same
/// everywhere, and a program that parses it need not know where it was written.
namespace weir::units {

/// \returns the number with exactly `decimals` decimals, as `printf("%.*f")` writes it in the C locale.
[[nodiscard]] inline std::string fixed(double value, int decimals) {
    char text[350];  // the longest double has 309 digits before the point
    if (decimals > 30) decimals = 30;
    const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, decimals);
    return std::string(text, end.ptr);
}

/// \returns the text, preceded by spaces to at least `width` bytes.
[[nodiscard]] inline std::string right(const std::string& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

/// \returns the text, followed by spaces to at least `width` bytes.
[[nodiscard]] inline std::string left(const std::string& text, std::size_t width) {
    return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

/// A unit, as a multiple of the smallest one.
struct unit {
    double scale;      ///< the factor
    const char* name;  ///< the printed name
};

/// \param units     in ascending order; the first one that gives a number below 1000 is used.
/// \param decimals  for the smallest unit; other units have 1 decimal below 100, else none.
/// \returns         such as `2.7 ms`, `27.3 ms`, `273 ms`.
template <std::size_t N>
[[nodiscard]] std::string scaled(double value, const unit (&units)[N], int decimals) {
    std::size_t i = 0;
    while (i + 1 < N && std::abs(value / units[i].scale) >= 999.5) ++i;
    const double number = value / units[i].scale;
    // 99.95 is written with one decimal as 100.0; it has none then.
    const int shown = std::abs(number) >= 99.95 ? 0 : i == 0 ? decimals : 1;
    return fixed(number, shown) + " " + units[i].name;
}

/// \returns a duration in three digits or so: `850 ns`, `2.7 ms`, `12.0 s`, `17.5 min`; 0 is `0`.
[[nodiscard]] inline std::string time(duration d) {
    static constexpr unit units[] = {{1, "ns"},  {1e3, "us"},   {1e6, "ms"},
                                     {1e9, "s"}, {6e10, "min"}, {3.6e12, "h"}};
    if (d == duration(0)) return "0";
    return scaled(static_cast<double>(d.count()), units, 0);
}

/// \returns a number of operations per second: `0.05 /s`, `33.3 /s`, `1.2 k/s`, `14.1 M/s`; 0 is `0`.
[[nodiscard]] inline std::string rate(double per_second) {
    static constexpr unit units[] = {{1, "/s"}, {1e3, "k/s"}, {1e6, "M/s"}, {1e9, "G/s"}};
    if (detail::are_equal(per_second, 0)) return "0";
    return scaled(per_second, units, std::abs(per_second) < 0.995 ? 2 : 1);
}

/// \returns bytes, in powers of 1000: `512 B`, `3.4 MB`.
[[nodiscard]] inline std::string bytes(std::uint64_t n) {
    static constexpr unit units[] = {{1, "B"},    {1e3, "kB"},  {1e6, "MB"},
                                     {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}};
    return scaled(static_cast<double>(n), units, 0);
}

/// \returns the number in full if it has at most `digits` digits, else shortened: `1.2 M`.
[[nodiscard]] inline std::string count(std::uint64_t n, std::size_t digits = 9) {
    static constexpr unit units[] = {{1, ""},     {1e3, "k"},  {1e6, "M"}, {1e9, "G"},
                                     {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};
    std::string full = std::to_string(n);
    return full.size() <= digits ? full : scaled(static_cast<double>(n), units, 0);
}

/// \returns a share of 1 in whole percent, without a sign: `57`; a little more than 0 is `<1`.
[[nodiscard]] inline std::string whole_percent(double share) {
    if (share > 0 && share < 0.005) return "<1";
    return fixed(share * 100, 0);
}

/// \returns a share of 1 in percent: `57.3 %`, `100 %`, `0 %`.
[[nodiscard]] inline std::string percent(double share) {
    const double value = share * 100;
    return fixed(value, detail::are_equal(value, 0) || value >= 99.95 ? 0 : 1) + " %";
}

/// \returns a duration as the documents' logs write it, 12 characters wide: `   2.7 [ ms]`,
///          `   4.2 [ us]`, `  10.2 [sec]`. Below 100 us in us, below 1 s in ms. What would lose
///          its only digit, from 1 to 99 ns, is in `[ ns]`, which the documents don't have.
[[nodiscard]] inline std::string log_time(duration d) {
    const std::int64_t ns = d.count();
    static constexpr unit units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "sec"}};
    const unit& u = units[ns >= 1'000'000'000 ? 3 : ns >= 100'000 ? 2 : ns >= 100 || ns <= 0 ? 1 : 0];
    return right(fixed(static_cast<double>(ns) / u.scale, 1), 6) + " [" + right(u.name, 3) + "]";
}

}  // namespace weir::units

#endif
