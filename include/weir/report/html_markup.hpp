// weir report, internal: markup of HTML and SVG from patterns, figures as text, and tables
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_MARKUP_HPP
#define WEIR_REPORT_HTML_MARKUP_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/escape.hpp>

#include <concepts>     // for std::integral
#include <cstddef>      // for std::size_t
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir::detail {

// An argument of `fill_in` that is markup already.
struct markup {
    std::string text;
};

inline void append_argument(std::string& out, std::string_view text) { out += escaped(text); }
inline void append_argument(std::string& out, const markup& m) { out += m.text; }
inline void append_argument(std::string& out, std::integral auto n) { out += std::to_string(n); }

// Appends the pattern; each `{}` is replaced by the next argument. Text is escaped.
template <class... Arguments>
void fill_in(std::string& out, std::string_view pattern, const Arguments&... arguments) {
    [[maybe_unused]] const auto insert = [&](const auto& argument) {
        const std::size_t place = pattern.find("{}");
        out += pattern.substr(0, place);
        append_argument(out, argument);
        pattern.remove_prefix(place + 2);
    };
    (insert(arguments), ...);
    out += pattern;
}
template <class... Arguments>
[[nodiscard]] markup filled(std::string_view pattern, const Arguments&... arguments) {
    markup m;
    fill_in(m.text, pattern, arguments...);
    return m;
}

// \returns the number with six digits at most: for coordinates, and for figures that the script reads.
[[nodiscard]] std::string short_number(double value);

// \returns `units::time` with `µs` instead of `us`.
[[nodiscard]] std::string time_markup(duration d);

// What a figure measures: nanoseconds, a number of things, things per second, a share of 1.
enum class figure_kind { time, count, rate, share };

// Stands for a missing figure. All figures are 0 or more. Not NaN, because code that is compiled with
// -ffast-math cannot tell NaN from numbers.
inline constexpr double no_value = -1;
[[nodiscard]] constexpr bool is_figure(double value) noexcept { return value >= 0; }

// \returns the figure with a unit: `2.7 ms`; a dash if there is no figure.
[[nodiscard]] std::string figure_text(figure_kind kind, double value);

// A table of a page. If a table is wider than the screen, only the table scrolls, not the page.
class html_table {
  public:
    enum class align { right, left, text, long_text };  // text may have several lines
    struct column {
        std::string heading;
        align as = align::right;
    };

    html_table(std::string caption, std::vector<column> columns)
        : caption_(std::move(caption)), columns_(std::move(columns)) {}

    // Adds a row. The first cell is the heading of the row.
    void add(const std::vector<std::string>& texts);
    // Adds a cell to the last row.
    void add_markup(const markup& cell);
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

    void append_to(std::string& out) const;

  private:
    std::string caption_;
    std::vector<column> columns_;
    std::string rows_;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/html_markup.ipp>
#endif

#endif
