// lab plot: shared by all plots: empty plots, thinning, legends, names of rows
#include "lab/plot/plot.hpp"

#include <weir/report/escape.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace lab {

plot empty_plot(const std::string& name, const std::string& title, const std::string& reason) {
    canvas on;
    double y = 26;
    for (const std::string& line : wrapped("Nothing to draw: " + reason + ".", 58)) {
        on.text(12, y, line, "soft");
        y += 17;
    }
    return {name, title, "Nothing to draw: " + reason + ".", true, y, 0, on.content()};
}

std::vector<std::size_t> thinned(std::size_t points, std::size_t most) {
    std::vector<std::size_t> places(points);
    for (std::size_t i = 0; i < points; ++i) places[i] = i;
    if (points <= most) return places;
    // Splitmix64 (Steele, Lea & Flood, 2014).
    const auto luck = [](std::uint64_t z) {
        z += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    };
    std::nth_element(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(most), places.end(),
                     [&](std::size_t a, std::size_t b) { return luck(a) < luck(b); });
    places.resize(most);
    std::sort(places.begin(), places.end());
    return places;
}

std::string thinned_text(std::size_t points) {
    if (points <= most_points) return {};
    return " (" + std::to_string(most_points) + " of " + std::to_string(points) +
           " points are drawn, chosen by lot)";
}

double draw_legend(canvas& on, double left, double top, const std::vector<legend_entry>& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const legend_entry& entry = entries[i];
        if (entry.is_mark) {
            on.path(dot_way(left + 6, top + 8, entry.style == "dot1" ? 1 : 0), entry.style);
        } else {
            on.rectangle(left, top + 3, 12, 10, entry.style);
        }
        on.text(left + 19, top + 12, short_name(entry.text, 60), {}, entry.text);
        top += 17;
    }
    return top;
}

std::string dot_way(double x, double y, int style, bool many) {
    if (style == 0) return "M" + coordinate(x) + " " + coordinate(y) + "h0";
    return "M" + coordinate(x) + " " + coordinate(y - (many ? 1.5 : 2.8)) +
           (many ? "l1.5 2.6h-3z" : "l2.8 4.8h-5.6z");
}

std::string short_name(const std::string& name, std::size_t columns) {
    // Each character and its width: most characters of three and four bytes are wide.
    std::vector<std::pair<std::string_view, std::size_t>> characters;
    std::size_t width = 0;
    for (std::string_view rest = name; !rest.empty();) {
        const std::size_t bytes = std::max<std::size_t>(weir::detail::utf8_length(rest), 1);
        characters.emplace_back(rest.substr(0, bytes), bytes > 2 ? 2 : 1);
        width += characters.back().second;
        rest.remove_prefix(bytes);
    }
    if (width <= columns) return name;
    std::string head;
    std::string tail;
    std::size_t used = 1;  // width of the dots
    for (std::size_t i = 0; 2 * i + 1 < characters.size(); ++i) {
        const auto& [first, first_width] = characters[i];
        if (used + first_width > columns) break;
        head += first;
        used += first_width;
        const auto& [last, last_width] = characters[characters.size() - 1 - i];
        if (used + last_width > columns) break;
        tail.insert(0, last);
        used += last_width;
    }
    return head + "…" + tail;
}

row_labels::row_labels(const std::vector<std::string>& names) {
    constexpr std::size_t columns = 28;
    std::map<std::string, int> seen;
    for (const std::string& name : names) {
        std::string text = short_name(name, columns);
        if (const int before = seen[text]++; before > 0) {
            const std::string number = " (" + std::to_string(before + 1) + ")";
            text = short_name(name, columns - number.size()) + number;
        }
        width = std::max(width, text_width(text));
        texts.push_back(text);
    }
}

}  // namespace lab
