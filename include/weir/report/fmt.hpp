// weir report: statistics and reports for the library {fmt}
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_FMT_HPP
#define WEIR_REPORT_FMT_HPP

#include <weir/report/printable.hpp>

#include <fmt/format.h>  // for fmt::formatter

#include <string>  // for std::string

namespace fmt {

/// Formats what is `weir::printable` as a string, with what a string may be given: a width, a fill, a
/// precision. `fmt::print("{:>80}\n", run.stats().stages.at(0))`
///
/// Never included by another header: whether it is there must not differ between the sources of a program
/// that format the same.
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
