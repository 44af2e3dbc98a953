// weir report: statistics and reports for the library {fmt}
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_FMT_HPP
#define WEIR_REPORT_FMT_HPP

#include <weir/report/printable.hpp>

#include <fmt/format.h>  // for fmt::formatter

#include <string>  // for std::string

namespace fmt {

/// Formats `weir::printable` objects as strings, with the options of strings: width, fill, precision:
/// `fmt::print("{:>80}\n", run.stats().stages.at(0))`
///
/// No other header includes this one: all sources of a program that format such an object must include it,
/// or none.
template <weir::printable T>
struct formatter<T, char> : formatter<string_view, char> {
    template <class Context>
    auto format(const T& value, Context& context) const {
        const std::string text = weir::printed(value);
        return formatter<string_view, char>::format(text, context);
    }
};

}  // namespace fmt

#endif
