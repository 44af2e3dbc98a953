// weir task: who hears of exceptions of a group's tasks that nobody joins
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_UNJOINED_SINK_HPP
#define WEIR_TASK_UNJOINED_SINK_HPP

#include <weir/platform/globals.hpp>
#include <weir/platform/message_text.hpp>

#include <cstddef>    // for std::size_t
#include <cstdio>     // for std::fprintf
#include <exception>  // for std::exception_ptr

namespace weir {

/// Told of a `task_group` that is destroyed while exceptions of its tasks were thrown to nobody: once, by the
/// destructor, when all its tasks have ended. `first`: of the one that ended first; `count`: how many there
/// were.
using unjoined_sink = void (*)(const std::exception_ptr& first, std::size_t count) noexcept;

namespace detail {

inline void print_unjoined(const std::exception_ptr& first, std::size_t count) noexcept {
    const auto print = [count](const char* what) {
        std::fprintf(
            stderr,
            "weir: nobody joined a task_group; %zu of its tasks ended by an exception, the first by: %s\n",
            count, what);
    };
    try {
        print(detail::error_text(first).c_str());
    } catch (...) {
        print("memory lacks to say what");
    }
}

inline constinit process_function<unjoined_sink> the_unjoined_sink{&print_unjoined};

inline void tell_unjoined(const std::exception_ptr& first, std::size_t count) noexcept {
    if (const unjoined_sink told = the_unjoined_sink.get()) told(first, count);
}

}  // namespace detail

/// Sets it for all groups of the process; the one that is there from the beginning prints a line on stderr.
/// With null nobody is told.
/// \returns the one before. Threads: any.
inline unjoined_sink set_unjoined_sink(unjoined_sink sink) noexcept {
    return detail::the_unjoined_sink.replace(sink);
}

}  // namespace weir

#endif
