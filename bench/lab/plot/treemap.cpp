// lab plot: shares as areas
#include "lab/plot/treemap.hpp"

#include "lab/plot/style.hpp"

#include <algorithm>
#include <numeric>

namespace lab {

namespace {

// The worst aspect ratio of boxes of these sizes in a row along a side of this length.
double worst_ratio(const std::vector<double>& sizes, std::size_t begin, std::size_t end, double length) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += sizes[i];
    const double depth = sum / length;
    double worst = 1;
    for (std::size_t i = begin; i < end; ++i) {
        const double along = sizes[i] / depth;
        worst = std::max({worst, along / depth, depth / along});
    }
    return worst;
}

// Divides a text into lines of this many bytes, after a blank or a `_` that is not near the begin.
std::vector<std::string> pieces(std::string text, std::size_t columns) {
    std::vector<std::string> lines;
    while (text.size() > columns) {
        std::size_t end = text.find_last_of(" _-", columns - 1);
        end = end == std::string::npos || end < columns / 3 ? columns : end + 1;
        while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
        lines.push_back(text.substr(0, end));
        text.erase(0, end);
    }
    if (!text.empty()) lines.push_back(text);
    return lines;
}

}  // namespace

std::vector<box> squarified(const std::vector<double>& sizes, const box& whole) {
    const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    std::vector<double> areas = sizes;
    for (double& a : areas) a *= whole.width * whole.height / sum;
    std::vector<box> boxes;
    box rest = whole;
    std::size_t begin = 0;
    while (begin < areas.size()) {
        const bool upright = rest.width >= rest.height;  // the row is a column at the left
        const double length = upright ? rest.height : rest.width;
        std::size_t end = begin + 1;
        while (end < areas.size() &&
               worst_ratio(areas, begin, end + 1, length) <= worst_ratio(areas, begin, end, length))
            ++end;
        double row = 0;
        for (std::size_t i = begin; i < end; ++i) row += areas[i];
        const double depth = row / length;
        double at = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const double along = areas[i] / depth;
            boxes.push_back(upright ? box{rest.x, rest.y + at, depth, along}
                                    : box{rest.x + at, rest.y, along, depth});
            at += along;
        }
        (upright ? rest.x : rest.y) += depth;
        (upright ? rest.width : rest.height) -= depth;
        begin = end;
    }
    return boxes;
}

void draw_treemap(plot& onto, std::vector<area> areas) {
    std::stable_sort(areas.begin(), areas.end(),
                     [](const area& a, const area& b) { return a.size > b.size; });
    std::vector<double> sizes;
    for (const area& a : areas) sizes.push_back(a.size);
    const box whole{8, 8, plot_width - 16, 290};
    const std::vector<box> boxes = squarified(sizes, whole);
    canvas on;
    std::vector<legend_entry> in_legend;  // boxes with too little room for text
    for (std::size_t i = 0; i < areas.size(); ++i) {
        const box& b = boxes[i];
        const area& a = areas[i];
        on.rectangle(b.x, b.y, b.width, b.height, level_style(a.level) + " box", a.name + ": " + a.text);
        const auto columns = static_cast<std::size_t>(std::max(b.width - 10, 0.0) / 7.3);
        const legend_entry entry{level_style(a.level), a.name + ": " + a.text, false};
        if (columns < 6 || b.height < 18) {
            in_legend.push_back(entry);
            continue;
        }
        std::vector<std::string> lines = pieces(a.name, columns);
        for (const std::string& piece : pieces(a.text, columns)) lines.push_back(piece);
        const auto most = static_cast<std::size_t>((b.height - 4) / 15);
        if (lines.size() > most) {
            lines = {short_name(a.name, columns)};
            in_legend.push_back(entry);
        }
        for (std::size_t l = 0; l < lines.size(); ++l)
            on.text(b.x + 6, b.y + 15 + 15 * static_cast<double>(l), lines[l],
                    is_strong_level(a.level) ? "on" : "", l == 0 ? a.name : "");
    }
    onto.height = draw_legend(on, 8, whole.y + whole.height + 8, in_legend) + 8;
    onto.content = on.content();
}

}  // namespace lab
