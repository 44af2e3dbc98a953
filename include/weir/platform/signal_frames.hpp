// weir platform, internal: ends the program if a thread waits for a lock inside of a signal handler
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SIGNAL_FRAMES_HPP
#define WEIR_PLATFORM_SIGNAL_FRAMES_HPP

#include <weir/platform/config.hpp>

#include <cstddef>  // for std::size_t
#include <cstdlib>  // for std::abort

#if __has_include(<unistd.h>) && __has_include(<unwind.h>) && !defined(_WIN32)
#include <unistd.h>  // for write
#include <unwind.h>  // for _Unwind_Backtrace
#endif

namespace weir::detail {

// Called when a wait for a lock takes long. If this thread is in a signal handler, the handler may have
// interrupted the holder of the lock on this thread, and the wait would never end: prints a message and
// aborts. Unwinds the whole stack. No effect if the unwinder can't identify frames of signals.
WEIR_NOINLINE inline void end_if_in_signal_handler() noexcept {
#if __has_include(<unistd.h>) && __has_include(<unwind.h>) && !defined(_WIN32)
    bool found = false;
    // The unwinder reports only for signal frames that the instruction pointer is not behind a call.
    const auto look = [](_Unwind_Context* frame, void* to) -> _Unwind_Reason_Code {
        int by_signal = 0;
        _Unwind_GetIPInfo(frame, &by_signal);
        if (by_signal == 0) return _URC_NO_REASON;
        *static_cast<bool*>(to) = true;
        return _URC_END_OF_STACK;
    };
    _Unwind_Backtrace(look, &found);
    if (!found) return;
    static constexpr char text[] =
        "weir: a signal handler waits for a lock, which the thread that it interrupted may hold: it must not "
        "call "
        "request_stop, nor anything else of the library; weir::stop_on_signals({SIGINT, SIGTERM}) gives a "
        "token "
        "for runs\n";
    [[maybe_unused]] const auto n = ::write(2, text, sizeof text - 1);
    std::abort();
#endif
}

}  // namespace weir::detail

#endif
