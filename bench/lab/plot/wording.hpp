// lab plot: the figures of one table in words
#ifndef LAB_PLOT_WORDING_HPP
#define LAB_PLOT_WORDING_HPP

#include "lab/data/run_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

struct wording {
    explicit wording(const run_table& table);

    std::string unit;  // "µs"; the name of the cost if that has no unit of time
    bool more_is_better = false;

    // "577.1 µs", with four digits.
    [[nodiscard]] std::string amount(double value) const;
    // "saves 577.1 µs", "adds 12 µs", "changes nothing"; for a rate "gains" and "loses".
    [[nodiscard]] std::string effect(double change) const;
};

// The text of an empty plot.
inline constexpr const char* no_deltas =
    "no two runs differ in one treatment alone; `lab plan --kind around` plans the missing ones";

// Four digits, with a true minus sign.
std::string figure(double value);
// "93 %".
std::string percent(double share);
// "1 run", "7 runs".
std::string count(std::size_t number, const std::string& thing);
// "a", "a and b", "a, b and c".
std::string list_text(const std::vector<std::string>& names);

}  // namespace lab

#endif
