// weir report, internal: verdicts as text: lines of a table, a line of a log, a value of JSON
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_VERDICT_TEXT_HPP
#define WEIR_REPORT_VERDICT_TEXT_HPP

#include <weir/insight/verdict.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string

namespace weir::detail {

// \returns the text with `?` for each byte that is not printable ASCII.
[[nodiscard]] std::string ascii_only(std::string text);

// \returns the text in lines of at most `max_width` characters, broken at spaces.
[[nodiscard]] std::string in_lines(const std::string& text, std::size_t max_width);

// \returns the verdict in lines of ASCII: `verdict: stage 'decode' is the bottleneck: ...`.
[[nodiscard]] std::string verdict_lines(const verdict& v, std::size_t max_width);

// \returns the verdict as one line, also if the name of the stage has line breaks:
//          `[verdict]\tcause=stage stage="decode" gain=0.50 sure=1.00: stage 'decode' is the ...`.
[[nodiscard]] std::string verdict_line(const verdict& v);

// \returns the verdict as a JSON object. Unknown values are null.
[[nodiscard]] std::string verdict_json(const verdict& v);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/verdict_text.ipp>
#endif

#endif
