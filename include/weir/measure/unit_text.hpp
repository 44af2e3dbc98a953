// weir measure: numbers with units as text, such as `2.7 ms`, the same in every locale
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_UNIT_TEXT_HPP
#define WEIR_MEASURE_UNIT_TEXT_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/numbers.hpp>

#include <cstddef>           // for std::size_t
#include <cstdint>           // for std::uint64_t
#include <cstdlib>           // for std::abs
#include <initializer_list>  // for std::initializer_list
#include <string>            // for std::string
#include <string_view>       // for std::string_view

/// Readable text for numbers with units. Independent of the C and C++ locales: a report is the same
/// everywhere, and a program that parses it need not know where it was written.
namespace weir::units {

/// \returns the number with `decimals` decimals, 0 to 30, as `printf("%.*f")` writes it in the C locale.
///          Other values count as 0 or 30.
[[nodiscard]] std::string fixed(double value, int decimals);

/// \returns the text, preceded by spaces to at least `width` bytes.
[[nodiscard]] std::string right(const std::string& text, std::size_t width);

/// \returns the text, followed by spaces to at least `width` bytes.
[[nodiscard]] std::string left(const std::string& text, std::size_t width);

/// A unit, as a multiple of the smallest one.
struct unit {
    double scale;      ///< the factor
    const char* name;  ///< the printed name
};

/// \param units     in ascending order; the first unit that gives a number below 1000 is used, else the last.
/// \param decimals  for numbers below 100 of the smallest unit; of other units, 1 decimal is written. Numbers
///                  from 100 on have none.
/// \returns         such as `2.7 ms`, `27.3 ms`, `273 ms`.
template <std::size_t N>
[[nodiscard]] std::string scaled(double value, const unit (&units)[N], int decimals) {
    std::size_t i = 0;
    while (i + 1 < N && std::abs(value / units[i].scale) >= 999.5) ++i;
    const double number = value / units[i].scale;
    // With one decimal, 99.95 would be written as 100.0.
    const int shown = std::abs(number) >= 99.95 ? 0 : i == 0 ? decimals : 1;
    return fixed(number, shown) + " " + units[i].name;
}

/// \returns a duration in three digits or so: `850 ns`, `2.7 ms`, `12.0 s`, `17.5 min`; 0 is `0`.
[[nodiscard]] std::string time(duration d);

/// \returns a number of operations per second: `0.05 /s`, `33.3 /s`, `1.2 k/s`, `14.1 M/s`; 0 is `0`.
[[nodiscard]] std::string rate(double per_second);

/// \returns bytes, in powers of 1000: `512 B`, `3.4 MB`.
[[nodiscard]] std::string bytes(std::uint64_t n);

/// \returns the number in full if it has at most `digits` digits, else shortened: `1.2 M`.
[[nodiscard]] std::string count(std::uint64_t n, std::size_t digits = 9);

/// \returns a share of 1 in whole percent, without the sign `%`: `57`; `<1` if it is more than 0 and below
///          0.5 %.
[[nodiscard]] std::string whole_percent(double share);

/// \returns a share of 1 in percent: `57.3 %`, `100 %`, `0 %`.
[[nodiscard]] std::string percent(double share);

/// \returns a duration as in the logs of the data loader SPDL, 12 characters or more: `   2.7 [ ms]`,
///          `   4.2 [ us]`, `  10.2 [sec]`. Below 100 us in us, below 1 s in ms. From 1 to 99 ns, the only
///          digit would be lost, so the unit is `[ ns]`, which SPDL doesn't use.
[[nodiscard]] std::string log_time(duration d);

}  // namespace weir::units

namespace weir::detail {

// Returns all texts, one behind the other. `?` replaces each control character: one in a stage's name could
// move the cursor of a terminal. Strings joined by `+` would take several times as long to compile.
[[nodiscard]] std::string concat(std::initializer_list<std::string_view> texts);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/measure/unit_text.ipp>
#endif

#endif
