// weir report: statistics and reports for std::format
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_FORMAT_HPP
#define WEIR_REPORT_FORMAT_HPP

#include <weir/report/printable.hpp>

#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <version>      // for the library's feature macros

#if defined(__cpp_lib_format)
#include <format>  // for std::formatter
namespace weir::detail {
inline constexpr bool has_format = true;
}
#else
namespace weir::detail {
inline constexpr bool has_format = false;
}
#endif

static_assert(weir::detail::has_format,
              "weir: <weir/report/format.hpp> needs std::format, which this standard library doesn't have; "
              "take <weir/report/fmt.hpp> with the library {fmt}, or write to a stream");

/// Formats `weir::printable` objects as strings, with the options of strings: width, fill, precision:
/// `std::format("{:>80}", run.stats().stages.at(0))`
template <weir::printable T>
struct std::formatter<T, char> : std::formatter<std::string_view, char> {
    template <class Context>
    auto format(const T& value, Context& context) const {
        const std::string text = weir::printed(value);
        return std::formatter<std::string_view, char>::format(text, context);
    }
};

#endif
