// lab plot: interactions of two treatments, as tiles
#include "lab/plot/tiles.hpp"

#include "lab/data/numbers.hpp"
#include "lab/plot/style.hpp"
#include "lab/plot/wording.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

double most_of(const tile_table& tiles) {
    double most = 0;
    for (std::size_t i = 0; i < tiles.names.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (tiles.kinds[i][j] == tile_kind::known) most = std::max(most, std::abs(tiles.values[i][j]));
    return most;
}

}  // namespace

std::vector<std::size_t> seriated(const tile_table& tiles) {
    const std::size_t n = tiles.names.size();
    const double most = most_of(tiles);
    const auto negative = [&](std::size_t i, std::size_t j) {
        const bool known = i != j && tiles.kinds[i][j] == tile_kind::known;
        // Adds a little of each, so that no treatment is unreachable, and of itself, so that the iteration does
        // not oscillate.
        return (known ? std::max(0.0, -tiles.values[i][j]) : 0) + (i == j ? most : 1e-3 * most);
    };
    std::vector<double> weight(n, 1.0);
    for (int round = 0; round < 300 && most > 0; ++round) {
        std::vector<double> next(n, 0.0);
        double greatest = 0;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) next[i] += negative(i, j) * weight[j];
            greatest = std::max(greatest, next[i]);
        }
        for (double& w : next) w /= greatest;
        weight = next;
    }
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return weight[a] < weight[b]; });
    return order;
}

double draw_colour_bar(canvas& on, double left, double top, double most, const std::string& unit) {
    constexpr int steps = 15;
    constexpr double width = 12;
    for (int i = 0; i < steps; ++i)
        on.rectangle(left + i * width, top, width + 0.3, 10, level_style(2.0 * i / (steps - 1) - 1));
    on.text(left, top + 24, figure(-most), "soft");
    on.text(left + steps * width / 2, top + 24, "0", "m soft");
    on.text(left + steps * width, top + 24, figure(most), "e soft");
    on.text(left + steps * width + 8, top + 10, unit, "soft");
    return top + 32;
}

void draw_tiles(plot& onto, const tile_table& tiles) {
    const std::vector<std::size_t> order = seriated(tiles);
    const std::size_t n = order.size();
    const double most = most_of(tiles);
    std::vector<std::string> names;
    for (const std::size_t i : order) names.push_back(tiles.names[i]);
    const row_labels labels(names);
    canvas on;
    const double left = 8 + labels.width + 8;
    const double cell = std::min(46.0, (plot_width - 12 - left) / static_cast<double>(n));
    const bool small = cell < 14;
    const double top = draw_colour_bar(on, 8, 6, most, tiles.unit) + 4;
    const double bottom = top + cell * static_cast<double>(n);
    std::string hatch;
    for (std::size_t r = 0; r < n; ++r) {
        const double y = bottom - cell * static_cast<double>(r + 1);
        on.text(left - 7, y + cell / 2 + (small ? 3 : 4), labels.texts[r], small ? "e small" : "e", names[r]);
        for (std::size_t c = 0; c < n; ++c) {
            const double x = left + cell * static_cast<double>(c);
            const tile_kind kind = tiles.kinds[order[r]][order[c]];
            const double value = tiles.values[order[r]][order[c]];
            if (kind == tile_kind::known) {
                const double share = most > 0 ? value / most : 0;
                on.rectangle(x, y, cell, cell, level_style(share) + " tile",
                             names[r] + " × " + names[c] + ": " + figure(value));
                const bool nothing = std::abs(value) <= 1e-9 * most;
                const std::string text =
                    nothing ? "0" : (value < 0 ? "−" : "") + short_text(std::abs(value), 2);
                if (n <= 9 && text_width(text) < cell + 4)
                    on.text(x + cell / 2, y + cell / 2 + 4, text,
                            is_strong_level(share) ? "m small on" : "m small");
                continue;
            }
            on.rectangle(x, y, cell, cell, "none tile");
            if (kind == tile_kind::aliased)
                hatch += "M" + coordinate(x + 1) + " " + coordinate(y + cell - 1) + "L" +
                         coordinate(x + cell - 1) + " " + coordinate(y + 1) + "M" + coordinate(x + 1) + " " +
                         coordinate(y + cell / 2) + "L" + coordinate(x + cell / 2) + " " + coordinate(y + 1) +
                         "M" + coordinate(x + cell / 2) + " " + coordinate(y + cell - 1) + "L" +
                         coordinate(x + cell - 1) + " " + coordinate(y + cell / 2);
        }
    }
    on.path(hatch, "hatch");
    // Below and vertical, because there is no room beside each other.
    for (std::size_t c = 0; c < n; ++c)
        on.upright_text(left + cell * (static_cast<double>(c) + 0.5) + (small ? 3 : 4), bottom + 7,
                        labels.texts[c], small ? "small" : "", names[c]);
    onto.height = bottom + labels.width + 14;
    onto.least_width = small ? 560 : 0;
    onto.content = on.content();
}

}  // namespace lab
