// corpus: shows how far a job is: a bar on a terminal, one plain line every few seconds elsewhere.
// What is specific to a terminal of a Unix system is here.
// SPDX-License-Identifier: BSL-1.0
#include "progress.hpp"

#include <sys/ioctl.h>  // for TIOCGWINSZ
#include <unistd.h>     // for isatty

#include <algorithm>  // for std::min
#include <cstdio>     // for std::snprintf
#include <cstdlib>    // for std::getenv
#include <iostream>   // for std::cerr

namespace corpus {

namespace {

constexpr auto every_on_terminal = std::chrono::milliseconds(100);
constexpr auto every_elsewhere = std::chrono::seconds(3);

// A terminal that understands "back to the start of the line" and "clear the rest of it".
bool is_terminal() {
    const char* const type = std::getenv("TERM");
    return isatty(STDERR_FILENO) != 0 && type != nullptr && std::string(type) != "dumb";
}

std::size_t terminal_width() {
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

}  // namespace

std::string progress_line(const work_done& done, std::size_t width) {
    const double megabytes = static_cast<double>(done.bytes) / 1e6;
    char numbers[160];
    if (done.total_files == 0) {
        std::snprintf(numbers, sizeof numbers, "%llu files, %.1f MB, %.1f MB/s",
                      static_cast<unsigned long long>(done.files), megabytes,
                      done.seconds > 0 ? megabytes / done.seconds : 0.0);
        return numbers;
    }
    // Files may appear between the count and the read.
    const double share =
        std::min(1.0, static_cast<double>(done.files) / static_cast<double>(done.total_files));
    std::snprintf(numbers, sizeof numbers, "%llu of %llu files, %3.0f %%, %.1f MB, %.1f MB/s",
                  static_cast<unsigned long long>(done.files),
                  static_cast<unsigned long long>(done.total_files), 100 * share, megabytes,
                  done.seconds > 0 ? megabytes / done.seconds : 0.0);
    std::string line = numbers;
    constexpr std::size_t brackets_and_gap = 4;
    constexpr std::size_t shortest_bar = 10;
    constexpr std::size_t longest_bar = 40;
    if (width < line.size() + brackets_and_gap + shortest_bar) return line;
    const std::size_t length = std::min(longest_bar, width - line.size() - brackets_and_gap);
    const auto full = static_cast<std::size_t>(share * static_cast<double>(length));
    return "[" + std::string(full, '#') + std::string(length - full, '.') + "] " + line;
}

progress::progress(std::uint64_t total_files)
    : start_(clock::now()), next_(start_), total_files_(total_files), terminal_(is_terminal()) {
    next_ += terminal_ ? clock::duration(every_on_terminal) : clock::duration(every_elsewhere);
}

void progress::show(std::uint64_t files, std::uint64_t bytes) {
    const clock::time_point now = clock::now();
    if (now < next_) return;
    next_ = now + (terminal_ ? clock::duration(every_on_terminal) : clock::duration(every_elsewhere));
    const work_done done{files, bytes, total_files_, seconds()};
    if (terminal_) {
        // One column stays free: a full line would make some terminals begin a new one.
        const std::size_t width = terminal_width() - 1;
        std::cerr << '\r' << progress_line(done, width).substr(0, width) << "\x1b[K" << std::flush;
        bar_is_shown_ = true;
    } else {
        std::cerr << progress_line(done, 0) << std::endl;
    }
}

void progress::finish() {
    if (bar_is_shown_) std::cerr << "\r\x1b[K" << std::flush;
    bar_is_shown_ = false;
}

double progress::seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

}  // namespace corpus
