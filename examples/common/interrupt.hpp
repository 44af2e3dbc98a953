// examples: Ctrl-C asks the program to stop early and report.
// A second Ctrl-C ends it at once.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_COMMON_INTERRUPT_HPP
#define WEIR_EXAMPLES_COMMON_INTERRUPT_HPP

#include <weir/task/stop_on_signals.hpp>

#include <algorithm>  // for std::min
#include <chrono>     // for std::chrono::nanoseconds
#include <csignal>    // for SIGINT, SIGTERM
#include <iostream>   // for std::cout
#include <thread>     // for std::this_thread::sleep_for

namespace examples {

/// The exit status of a program that Ctrl-C ended, as shells expect it: 128 + SIGINT.
inline constexpr int exit_interrupted = 130;

/// A token that Ctrl-C stops. Give it to each run. The first call installs the handler.
inline const weir::stop_on_signals& stop_request() {
    static const weir::stop_on_signals all({SIGINT, SIGTERM});
    return all;
}

[[nodiscard]] inline bool interrupted() { return stop_request().stop_requested(); }

/// \returns `otherwise`, or, after Ctrl-C, the status for that, which it also prints.
inline int status_of_run(int otherwise) {
    if (!interrupted()) return otherwise;
    std::cout << "stopped early, as asked\n";
    return exit_interrupted;
}

/// Stands for the work of a consumer (a training step): sleeps, and wakes up at Ctrl-C.
inline void be_busy(std::chrono::nanoseconds time) {
    using clock = std::chrono::steady_clock;
    const clock::time_point end = clock::now() + time;
    while (!interrupted() && clock::now() < end) {
        std::this_thread::sleep_for(
            std::min<clock::duration>(end - clock::now(), std::chrono::milliseconds(50)));
    }
}

}  // namespace examples

#endif
