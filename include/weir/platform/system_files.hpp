// weir platform, internal: the system's files and terminals, as reports need them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SYSTEM_FILES_HPP
#define WEIR_PLATFORM_SYSTEM_FILES_HPP

#include <weir/platform/system_output.hpp>

#include <cerrno>   // for errno
#include <cstdint>  // for std::int64_t

#if __has_include(<unistd.h>) && !defined(_WIN32)
#include <fcntl.h>      // for open
#include <poll.h>       // for poll
#include <sys/file.h>   // for flock
#include <sys/ioctl.h>  // for ioctl
#include <sys/stat.h>   // for stat
#include <unistd.h>     // for lseek
#else
#include <fcntl.h>     // for _O_APPEND
#include <io.h>        // for _open
#include <sys/stat.h>  // for _S_IREAD
#endif

namespace weir::detail {

#if __has_include(<unistd.h>) && !defined(_WIN32)

// A file to be written to its end, made if it isn't there. All of these give -1, and errno, if that fails. A
// pipe with a name that nobody reads is an error, and not waited for.
inline int open_output(const char* path, bool anew) noexcept {
    const int file =
        ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | (anew ? O_TRUNC : 0), 0666);
    if (file >= 0) ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
    return file;
}
// Whether it is there, and no plain file.
inline bool is_device(const char* path) noexcept {
    struct stat seen{};
    return ::stat(path, &seen) == 0 && !S_ISREG(seen.st_mode);
}
inline void close_output(int file) noexcept { ::close(file); }
inline std::int64_t size_of_output(int file) noexcept { return ::lseek(file, 0, SEEK_END); }
inline int cut_output(int file, std::int64_t size) noexcept { return ::ftruncate(file, size); }

// Until another process, or who else opened it, unlocks it; where the system has no such locks, nothing is
// locked. Its end unlocks what a process locked.
inline void lock_output(int file) noexcept {
    while (::flock(file, LOCK_EX) != 0 && errno == EINTR) {
    }
}
inline void unlock_output(int file) noexcept { ::flock(file, LOCK_UN); }

inline bool is_terminal(int file) noexcept { return ::isatty(file) == 1; }
// Whether a write would not wait now, as it does for a terminal that is stopped (Ctrl-S), or a pipe that is
// full. If one would fail that is true, too.
inline bool takes_output(int file) noexcept {
    pollfd asked{file, POLLOUT, 0};
    return ::poll(&asked, 1, 0) != 0;
}

struct terminal_size {
    unsigned columns = 80;
    unsigned rows = 24;
};
// As it is now.
inline terminal_size size_of_terminal(int file) noexcept {
    winsize size{};
    if (::ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
    return {size.ws_col, size.ws_row};
}

#else

// Written after the functions' documentation, and compiled by nobody here yet.
inline int open_output(const char* path, bool anew) noexcept {
    return _open(path, _O_WRONLY | _O_CREAT | _O_APPEND | _O_BINARY | (anew ? _O_TRUNC : 0),
                 _S_IREAD | _S_IWRITE);
}
inline bool is_device(const char*) noexcept { return false; }
inline void close_output(int file) noexcept { _close(file); }
inline std::int64_t size_of_output(int file) noexcept { return _lseeki64(file, 0, 2); }
inline int cut_output(int file, std::int64_t size) noexcept { return _chsize_s(file, size) == 0 ? 0 : -1; }
inline void lock_output(int) noexcept {}
inline void unlock_output(int) noexcept {}
inline bool is_terminal(int file) noexcept { return _isatty(file) != 0; }
inline bool takes_output(int) noexcept { return true; }
struct terminal_size {
    unsigned columns = 80;
    unsigned rows = 24;
};
inline terminal_size size_of_terminal(int) noexcept { return {}; }

#endif

}  // namespace weir::detail

#endif
