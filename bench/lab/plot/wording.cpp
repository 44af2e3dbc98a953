// lab plot: the figures of one table in words
#include "lab/plot/wording.hpp"

#include "lab/data/numbers.hpp"
#include "lab/data/rate.hpp"

#include <cmath>

namespace lab {

wording::wording(const run_table& table) : unit(table.cost_name), more_is_better(table.more_is_better) {
    const rate_scale rate = rate_of(table.cost_name);
    if (rate.unit != "per second") return;
    unit = rate.scale == 1e9 ? "ns" : rate.scale == 1e6 ? "µs" : rate.scale == 1e3 ? "ms" : "s";
}

std::string figure(double value) {
    if (!std::isfinite(value)) return "?";
    const std::string text = short_text(std::abs(value), 4);
    return value < 0 && text != "0" ? "−" + text : text;
}

std::string wording::amount(double value) const { return figure(value) + " " + unit; }

std::string wording::effect(double change) const {
    if (change == 0) return "changes nothing";
    const char* verb =
        more_is_better ? (change < 0 ? "loses " : "gains ") : (change > 0 ? "adds " : "saves ");
    return verb + amount(std::abs(change));
}

std::string percent(double share) { return short_text(share * 100, share < 0.1 ? 2 : 3) + " %"; }

std::string count(std::size_t number, const std::string& thing) {
    return std::to_string(number) + " " + thing + (number == 1 ? "" : "s");
}

std::string list_text(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
        text += names[i];
    }
    return text;
}

}  // namespace lab
