// weir report, internal: markup of HTML and SVG from patterns, figures as text, and tables
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_MARKUP_HPP
#define WEIR_REPORT_HTML_MARKUP_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/escape.hpp>

#include <charconv>     // for std::to_chars
#include <cmath>        // for std::floor
#include <concepts>     // for std::integral
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
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
[[nodiscard]] inline std::string short_number(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::general, 6);
    return std::string(text, end.ptr);
}

// \returns `units::time` with `µs` instead of `us`.
[[nodiscard]] inline std::string time_markup(duration d) {
    std::string text = units::time(d);
    if (text.ends_with(" us")) text.replace(text.size() - 2, 1, "µ");
    return text;
}

// What a figure measures: nanoseconds, a number of things, things per second, a share of 1.
enum class figure_kind { time, count, rate, share };

// A missing figure. Negative, as no figure is; not NaN, because -ffast-math cannot tell NaN from numbers.
inline constexpr double no_value = -1;
[[nodiscard]] constexpr bool is_figure(double value) noexcept { return value >= 0; }

// \returns the figure in a unit that fits.
[[nodiscard]] inline std::string figure_text(figure_kind kind, double value) {
    if (!is_figure(value)) return "–";
    const double whole = std::floor(smaller(larger(value, 0.0), 9.2e18) + 0.5);  // a count, or nanoseconds
    switch (kind) {
        case figure_kind::time:
            return time_markup(duration(static_cast<std::int64_t>(whole)));
        case figure_kind::rate:
            return units::rate(value);
        case figure_kind::share:
            return units::percent(value);
        case figure_kind::count:
            break;
    }
    return value < 100 && value > std::floor(value) ? units::fixed(value, 1)
                                                    : units::count(static_cast<std::uint64_t>(whole), 7);
}

// A table of a page. A table that is wider than the screen scrolls by itself.
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
    void add(const std::vector<std::string>& texts) {
        static constexpr const char* cells[] = {"<td>{}</td>", "<td class=\"l\">{}</td>",
                                                "<td class=\"t\">{}</td>", "<td class=\"t long\">{}</td>"};
        fill_in(rows_, "<tr><th>{}</th>", texts[0]);
        for (std::size_t i = 1; i < texts.size(); ++i)
            fill_in(rows_, cells[static_cast<std::size_t>(columns_[i].as)], texts[i]);
        rows_ += "</tr>\n";
    }
    // Adds a cell to the last row.
    void add_markup(const markup& cell) {
        rows_.insert(rows_.size() - std::string_view("</tr>\n").size(), "<td>" + cell.text + "</td>");
    }
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

    void append_to(std::string& out) const {
        fill_in(out, R"(<div class="scroll" role="region" aria-label="{}"><table><caption>{}</caption>)",
                caption_, caption_);
        out += "\n<thead><tr>";
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const bool left = i == 0 || columns_[i].as != align::right;
            fill_in(out, left ? R"(<th scope="col" class="l">{}</th>)" : R"(<th scope="col">{}</th>)",
                    columns_[i].heading);
        }
        out += "</tr></thead>\n<tbody>" + rows_ + "</tbody></table></div>\n";
    }

  private:
    std::string caption_;
    std::vector<column> columns_;
    std::string rows_;
};

}  // namespace weir::detail

#endif
