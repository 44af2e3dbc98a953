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
/// No other header of the library includes this header. Because of the one definition rule, all sources of a
/// program that format such an object include this header, or none of them does.
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
