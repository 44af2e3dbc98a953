// weir report, internal: tables of HTML
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_TABLE_HPP
#define WEIR_REPORT_HTML_TABLE_HPP

#include <weir/report/markup.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::detail {

// One that is wider than the screen is scrolled by itself.
class html_table {
  public:
    enum class align { right, left, text, long_text };  // text may have several lines
    struct column {
        std::string heading;
        align as = align::right;
    };

    html_table(std::string caption, std::vector<column> columns)
        : caption_(std::move(caption)), columns_(std::move(columns)) {}

    // The first one says what the row is of. They are text, not markup.
    void add(const std::vector<std::string>& texts) {
        rows_ += "<tr>";
        for (std::size_t i = 0; i < texts.size(); ++i)
            rows_ += i == 0 ? head(texts[i]) : cell(columns_[i], texts[i]);
        rows_ += "</tr>\n";
    }
    // As the last cell of the row that was added last.
    void add_markup(const std::string& markup) {
        rows_.insert(rows_.size() - std::string("</tr>\n").size(), "<td>" + markup + "</td>");
    }
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

    void append_to(std::string& out) const {
        out += "<div class=\"scroll\" role=\"region\" aria-label=\"" + escaped(caption_) +
               "\"><table><caption>" + escaped(caption_) + "</caption>\n<thead><tr>";
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const bool left = i == 0 || columns_[i].as != align::right;
            out += std::string("<th scope=\"col\"") + (left ? " class=\"l\">" : ">") +
                   escaped(columns_[i].heading) + "</th>";
        }
        out += "</tr></thead>\n<tbody>" + rows_ + "</tbody></table></div>\n";
    }

  private:
    static std::string head(const std::string& text) { return "<th>" + escaped(text) + "</th>"; }
    static std::string cell(const column& c, const std::string& text) {
        static constexpr const char* openings[] = {"<td>", "<td class=\"l\">", "<td class=\"t\">",
                                                   "<td class=\"t long\">"};
        return openings[static_cast<std::size_t>(c.as)] + escaped(text) + "</td>";
    }

    std::string caption_;
    std::vector<column> columns_;
    std::string rows_;
};

}  // namespace weir::detail

#endif
