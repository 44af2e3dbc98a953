// examples: Ctrl-C asks the program to stop early and report.
// A second Ctrl-C ends it at once.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_COMMON_INTERRUPT_HPP
#define WEIR_EXAMPLES_COMMON_INTERRUPT_HPP

#include <algorithm>  // for std::min
#include <atomic>     // for std::atomic
#include <chrono>     // for std::chrono::nanoseconds
#include <csignal>    // for std::signal, SIGINT
#include <thread>     // for std::this_thread::sleep_for

namespace examples {

/// The exit status of a program that Ctrl-C ended, as shells expect it: 128 + SIGINT.
inline constexpr int exit_interrupted = 130;

// A signal handler may touch nothing but a lock-free atomic.
inline std::atomic<bool> interrupted_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

inline void stop_on_interrupt() {
    std::signal(SIGINT, [](int) {
        interrupted_flag.store(true, std::memory_order_relaxed);
        std::signal(SIGINT, SIG_DFL);
    });
}

[[nodiscard]] inline bool interrupted() noexcept { return interrupted_flag.load(std::memory_order_relaxed); }

/// Plays the work of a foreground (a training step): sleeps, but not through a Ctrl-C.
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
