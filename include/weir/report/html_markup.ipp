// weir report, internal: bodies of the functions of report/html_markup.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_MARKUP_IPP
#define WEIR_REPORT_HTML_MARKUP_IPP

#include <weir/report/html_markup.hpp>

#include <weir/platform/config.hpp>

#include <charconv>  // for std::to_chars
#include <cmath>     // for std::floor
#include <cstdint>   // for std::int64_t, std::uint64_t

namespace weir::detail {

WEIR_INLINE std::string short_number(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::general, 6);
    return std::string(text, end.ptr);
}

WEIR_INLINE std::string time_markup(duration d) {
    std::string text = units::time(d);
    if (text.ends_with(" us")) text.replace(text.size() - 2, 1, "µ");
    return text;
}

WEIR_INLINE std::string figure_text(figure_kind kind, double value) {
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

WEIR_INLINE void html_table::add(const std::vector<std::string>& texts) {
    static constexpr const char* cells[] = {"<td>{}</td>", "<td class=\"l\">{}</td>",
                                            "<td class=\"t\">{}</td>", "<td class=\"t long\">{}</td>"};
    fill_in(rows_, "<tr><th>{}</th>", texts[0]);
    for (std::size_t i = 1; i < texts.size(); ++i)
        fill_in(rows_, cells[static_cast<std::size_t>(columns_[i].as)], texts[i]);
    rows_ += "</tr>\n";
}

WEIR_INLINE void html_table::add_markup(const markup& cell) {
    rows_.insert(rows_.size() - std::string_view("</tr>\n").size(), "<td>" + cell.text + "</td>");
}

WEIR_INLINE void html_table::append_to(std::string& out) const {
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

}  // namespace weir::detail

#endif
