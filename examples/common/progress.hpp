// Shows how far a job is, on the standard error: a bar on a terminal, one plain line every few seconds elsewhere.
// Nothing here knows the library. What is specific to a terminal is that of a Unix system.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_COMMON_PROGRESS_HPP
#define WEIR_EXAMPLES_COMMON_PROGRESS_HPP

#include <sys/ioctl.h>  // for TIOCGWINSZ
#include <unistd.h>     // for isatty

#include <algorithm>  // for std::min
#include <chrono>     // for std::chrono::steady_clock
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <cstdio>     // for std::snprintf
#include <cstdlib>    // for std::getenv
#include <iostream>   // for std::cerr
#include <string>     // for std::string
#include <utility>    // for std::move

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

/// Writes such lines as often as is good for whoever reads them.
class progress {
  public:
    using clock = std::chrono::steady_clock;

    progress(std::string unit, std::uint64_t total)
        : start_(clock::now()), next_(start_ + pause()), unit_(std::move(unit)), total_(total) {}

    /// Cheap enough for every turn of a loop: it does something a few times a second at most.
    void show(std::uint64_t count, std::uint64_t bytes = 0) {
        const clock::time_point now = clock::now();
        if (now < next_) return;
        next_ = now + pause();
        const work_done done{unit_, count, total_, bytes, seconds()};
        if (terminal_) {
            // One column stays free: a full line would make some terminals begin a new one.
            const std::size_t width = terminal_width() - 1;
            std::cerr << '\r' << progress_line(done, width).substr(0, width) << "\x1b[K" << std::flush;
            bar_is_shown_ = true;
        } else {
            std::cerr << progress_line(done, 0) << std::endl;
        }
    }

    /// Clears the bar, so that what is printed next stands alone.
    void finish() {
        if (bar_is_shown_) std::cerr << "\r\x1b[K" << std::flush;
        bar_is_shown_ = false;
    }

    /// Since the start.
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(clock::now() - start_).count();
    }

  private:
    // One that understands "back to the start of the line" and "clear the rest of it".
    static bool is_terminal() {
        const char* const type = std::getenv("TERM");
        return isatty(STDERR_FILENO) != 0 && type != nullptr && std::string(type) != "dumb";
    }
    static std::size_t terminal_width() {
        winsize size{};
        if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
        return 80;
    }
    clock::duration pause() const { return std::chrono::milliseconds(terminal_ ? 100 : 3'000); }

    const bool terminal_ = is_terminal();
    bool bar_is_shown_ = false;
    clock::time_point start_;
    clock::time_point next_;
    std::string unit_;
    std::uint64_t total_;
};

}  // namespace examples

#endif
