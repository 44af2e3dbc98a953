// lab plot: shapes and text as SVG
#include "lab/plot/canvas.hpp"

#include <weir/report/escape.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lab {

using weir::detail::escaped;

std::string coordinate(double value) {
    if (!std::isfinite(value)) return "0";
    const long tenths = std::lround(std::clamp(value, -1e6, 1e6) * 10);
    std::string text = tenths < 0 ? "-" : "";
    text += std::to_string(std::labs(tenths) / 10);
    if (tenths % 10 != 0) text += "." + std::to_string(std::labs(tenths) % 10);
    return text;
}

double text_width(const std::string& text) {
    double columns = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        columns += byte >= 0xE0 ? 1.7 : (byte & 0xC0U) == 0x80 ? 0 : 1;
    }
    return columns * 6.8;
}

std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
    std::vector<std::string> lines;
    std::size_t begin = 0;
    while (begin < text.size()) {
        std::size_t end = std::min(text.size(), begin + columns);
        if (end < text.size()) {
            const std::size_t blank = text.rfind(' ', end);
            if (blank != std::string::npos && blank > begin) {
                end = blank;
            } else {
                end = std::min(text.find(' ', end), text.size());
            }
        }
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

void canvas::end(const char* element, const std::string& tip) {
    if (tip.empty()) {
        content_ += "/>\n";
    } else {
        content_ += "><title>" + escaped(tip) + "</title></" + element + ">\n";
    }
}

void canvas::rectangle(double x, double y, double width, double height, const std::string& style,
                       const std::string& tip) {
    content_ += "<rect class=\"" + style + "\" x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) +
                "\" width=\"" + coordinate(std::max(width, 0.0)) + "\" height=\"" +
                coordinate(std::max(height, 0.0)) + "\"";
    end("rect", tip);
}

void canvas::path(const std::string& way, const std::string& style, const std::string& tip) {
    if (way.empty()) return;
    content_ += "<path class=\"" + style + "\" d=\"" + way + "\"";
    end("path", tip);
}

void canvas::line(double x1, double y1, double x2, double y2, const std::string& style) {
    path("M" + coordinate(x1) + " " + coordinate(y1) + "L" + coordinate(x2) + " " + coordinate(y2), style);
}

void canvas::text(double x, double y, const std::string& what, const std::string& style,
                  const std::string& tip) {
    content_ += "<text" + (style.empty() ? std::string() : " class=\"" + style + "\"") + " x=\"" +
                coordinate(x) + "\" y=\"" + coordinate(y) + "\">";
    if (!tip.empty()) content_ += "<title>" + escaped(tip) + "</title>";
    content_ += escaped(what) + "</text>\n";
}

void canvas::upright_text(double x, double y, const std::string& what, const std::string& style,
                          const std::string& tip) {
    content_ += "<text class=\"e " + style + "\" transform=\"translate(" + coordinate(x) + " " +
                coordinate(y) + ")rotate(-90)\"><title>" + escaped(tip) + "</title>" + escaped(what) +
                "</text>\n";
}

}  // namespace lab
