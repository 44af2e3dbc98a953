// How far a job is, in one line: how many of what, at what rate, and, where the total is known, which share.
// Nothing here knows the library.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_COMMON_PROGRESS_LINE_HPP
#define WEIR_EXAMPLES_COMMON_PROGRESS_LINE_HPP

#include <algorithm>  // for std::min
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <cstdio>     // for std::snprintf
#include <string>     // for std::string

namespace examples {

/// How far a job is.
struct work_done {
    std::string unit;  // what is counted, in the plural
    std::uint64_t count = 0;
    std::uint64_t total = 0;  // 0: not known
    std::uint64_t bytes = 0;  // 0: none are counted
    double seconds = 0;       // since the start
};

/// One line: how many, at what rate, and, where the total is known, the share that is done, with a bar as wide
/// as there is room for.
/// \param width of the line in characters; 0: no bar
[[nodiscard]] inline std::string progress_line(const work_done& done, std::size_t width) {
    const auto rate = [&done](double of) { return done.seconds > 0 ? of / done.seconds : 0.0; };
    char rates[80];
    if (done.bytes != 0) {
        const double megabytes = static_cast<double>(done.bytes) / 1e6;
        std::snprintf(rates, sizeof rates, "%.1f MB, %.1f MB/s", megabytes, rate(megabytes));
    } else {
        std::snprintf(rates, sizeof rates, "%.1f /s", rate(static_cast<double>(done.count)));
    }
    const std::string count = std::to_string(done.count);
    if (done.total == 0) return count + " " + done.unit + ", " + rates;
    // More may have come since the total was known.
    const double share = std::min(1.0, static_cast<double>(done.count) / static_cast<double>(done.total));
    char percent[16];
    std::snprintf(percent, sizeof percent, "%3.0f %%", 100 * share);
    const std::string line =
        count + " of " + std::to_string(done.total) + " " + done.unit + ", " + percent + ", " + rates;
    constexpr std::size_t brackets_and_gap = 4;
    constexpr std::size_t shortest_bar = 10;
    constexpr std::size_t longest_bar = 40;
    if (width < line.size() + brackets_and_gap + shortest_bar) return line;
    const std::size_t length = std::min(longest_bar, width - line.size() - brackets_and_gap);
    const auto full = static_cast<std::size_t>(share * static_cast<double>(length));
    return "[" + std::string(full, '#') + std::string(length - full, '.') + "] " + line;
}

}  // namespace examples

#endif
