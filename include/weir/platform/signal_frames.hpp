// weir platform, internal: whether a thread waits inside of a signal handler, where nothing may wait
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

// Ends the program if this thread is in a signal handler: it waits for a lock whose holder the handler may
// have interrupted, on this same thread. Looks through the whole stack, so it is for a wait that takes long.
// Where frames can't be told it does nothing.
WEIR_NOINLINE inline void end_if_in_signal_handler() noexcept {
#if __has_include(<unistd.h>) && __has_include(<unwind.h>) && !defined(_WIN32)
    bool found = false;
    // Of a frame that a signal made, and of no other, the unwinder says that it was not left by a call.
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
