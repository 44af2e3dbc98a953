// weir platform, internal: writes to a file descriptor, without SIGPIPE, and to consoles in UTF-8
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SYSTEM_OUTPUT_HPP
#define WEIR_PLATFORM_SYSTEM_OUTPUT_HPP

#include <weir/platform/system_windows.hpp>

#include <cerrno>       // for errno
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <string_view>  // for std::string_view

#if __has_include(<unistd.h>) && !defined(_WIN32)
#include <pthread.h>  // for pthread_sigmask
#include <signal.h>   // for sigpending, sigwait; <csignal> has none of them
#include <unistd.h>   // for write
#else
#include <io.h>  // for _write
#endif

namespace weir::detail {

#if __has_include(<unistd.h>) && !defined(_WIN32)
// Like POSIX write(), but a pipe without a reader only gives EPIPE; SIGPIPE would end the program.
inline std::int64_t write_output(int file, const char* from, std::size_t size) noexcept {
    sigset_t pipe;
    sigset_t pending;
    sigset_t before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    const std::int64_t n = ::write(file, from, size);
    const int error = errno;
    // The signal is directed to this thread and is pending before write returns.
    if (n < 0 && error == EPIPE && !was_pending) {
        int which = 0;
        sigpending(&pending);
        if (sigismember(&pending, SIGPIPE) == 1) sigwait(&pipe, &which);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return n;
}

#else
inline void* handle_of(int file) noexcept { return reinterpret_cast<void*>(_get_osfhandle(file)); }

// Writes UTF-8 to a console, independent of its code page.
inline std::int64_t write_output(int file, const char* from, std::size_t size) noexcept {
    unsigned long n = 0;
    if (file < 0 || GetConsoleMode(handle_of(file), &n) == 0)
        return _write(file, from, static_cast<unsigned>(size < 1 << 30 ? size : 1 << 30));
    constexpr std::size_t most = 2048;  // no byte makes more than one unit of UTF-16
    wchar_t text[most];
    if (size > most) {  // up to the last whole character
        std::size_t whole = most;
        while (whole > most - 4 && (static_cast<unsigned char>(from[whole]) & 0xC0U) == 0x80U) --whole;
        size = whole;
    }
    const int units = MultiByteToWideChar(65001, 0, from, static_cast<int>(size), text, most);
    if (WriteConsoleW(handle_of(file), text, static_cast<unsigned long>(units), &n, nullptr) == 0) {
        errno = EIO;
        return -1;
    }
    return static_cast<std::int64_t>(size);
}
#endif

// Writes the whole text, in one system call if possible. On failure returns false and sets errno.
inline bool write_whole(int file, std::string_view text) noexcept {
    while (!text.empty()) {
        const std::int64_t n = write_output(file, text.data(), text.size());
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

}  // namespace weir::detail

#endif
