// Shows how far a job is, on the standard error: a bar on a terminal, one plain line every few seconds elsewhere.
// Nothing here knows the library. What is specific to a terminal is that of a Unix system.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_COMMON_PROGRESS_HPP
#define WEIR_EXAMPLES_COMMON_PROGRESS_HPP

#include "progress_line.hpp"

#include <sys/ioctl.h>  // for TIOCGWINSZ
#include <unistd.h>     // for isatty

#include <chrono>    // for std::chrono::steady_clock
#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <cstdlib>   // for std::getenv
#include <iostream>  // for std::cerr
#include <string>    // for std::string
#include <utility>   // for std::move

namespace examples {

/// Writes lines of it as often as is good for whoever reads them.
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
