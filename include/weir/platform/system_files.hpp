// weir platform, internal: functions of the operating system for files and terminals, for reports
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SYSTEM_FILES_HPP
#define WEIR_PLATFORM_SYSTEM_FILES_HPP

#include <weir/platform/system_windows.hpp>

#include <cerrno>       // for errno
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <cstdio>       // for std::FILE, std::fopen, std::rename
#include <string>       // for std::string
#include <string_view>  // for std::string_view

#if __has_include(<unistd.h>) && !defined(_WIN32)
#include <fcntl.h>      // for open
#include <poll.h>       // for poll
#include <pthread.h>    // for pthread_sigmask
#include <signal.h>     // for sigpending, sigwait; <csignal> has none of them
#include <sys/file.h>   // for flock
#include <sys/ioctl.h>  // for ioctl
#include <sys/stat.h>   // for stat
#include <unistd.h>     // for lseek, write
#else
#include <fcntl.h>     // for _O_APPEND
#include <io.h>        // for _wopen, _write
#include <sys/stat.h>  // for _S_IREAD
#endif

namespace weir::detail {

struct terminal_size {
    unsigned columns = 80;
    unsigned rows = 24;
};

#if __has_include(<unistd.h>) && !defined(_WIN32)

// Like POSIX write(), but a pipe without a reader only gives EPIPE; SIGPIPE would end the program.
inline std::int64_t write_output(int file, const char* from, std::size_t size) noexcept {
    sigset_t pipe, pending, before;
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

// Opens a file for reading; null: see errno. The path is UTF-8, whatever code page the process has.
inline std::FILE* open_input(const char* path) noexcept { return std::fopen(path, "rb"); }

// Opens a file for appending, created if it doesn't exist. Returns its descriptor. On failure, the functions
// for output files return -1 and set errno. A named pipe without a reader is an error: the call does not wait
// for a reader.
inline int open_output(const char* path) noexcept {
    const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file >= 0) ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
    return file;
}
// Whether the path exists and is not a regular file.
inline bool is_device(const char* path) noexcept {
    struct stat seen{};
    return ::stat(path, &seen) == 0 && !S_ISREG(seen.st_mode);
}
// The path to which the symbolic link `path` leads, even if no such file exists; `path` if it is no link.
inline std::string behind_links(std::string path) {
    constexpr int most_links = 40;  // as in Linux; more are a circle
    char next[4096];
    for (int i = 0; i < most_links; ++i) {
        const auto size = ::readlink(path.c_str(), next, sizeof next);
        if (size <= 0 || static_cast<std::size_t>(size) == sizeof next) break;
        const std::size_t folder = next[0] == '/' ? 0 : path.rfind('/') + 1;  // 0 without a slash
        path.replace(folder, std::string::npos, next, static_cast<std::size_t>(size));
    }
    return path;
}
// Gives the file the permissions of the file at `path`, if there is one. Errors are ignored.
inline void copy_permissions(const char* path, int file) noexcept {
    struct stat seen{};
    if (::stat(path, &seen) == 0) static_cast<void>(::fchmod(file, seen.st_mode & 07777U));
}
inline void close_output(int file) noexcept { ::close(file); }
inline std::int64_t size_of_output(int file) noexcept { return ::lseek(file, 0, SEEK_END); }
inline int cut_output(int file, std::int64_t size) noexcept { return ::ftruncate(file, size); }
// Remove or rename an open file, close and unlock it. False: it was not renamed, but removed; see errno.
inline void remove_output(int file, const char* path) noexcept { std::remove(path), ::close(file); }
inline bool rename_output(int file, const char* from, const char* to) noexcept {
    const int error = std::rename(from, to) == 0 ? 0 : errno;
    error == 0 ? static_cast<void>(::close(file)) : remove_output(file, from);
    errno = error;
    return error == 0;
}
// Waits until the storage has all data that was written.
inline int sync_output(int file) noexcept { return ::fsync(file); }
// Waits until the storage has the entry of a file in its folder. Errors are ignored: a system that
// can't sync folders stores the names of files by itself.
inline void sync_folder_of(const char* path) {
    const std::string_view whole(path);
    const std::size_t slash = whole.rfind('/');
    const std::string folder(slash == std::string_view::npos ? "." : whole.substr(0, slash + 1));
    const int file = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    static_cast<void>(::fsync(file));
    ::close(file);
}

// Waits for an exclusive advisory lock, if the system has such locks. The end of the process releases it.
inline void lock_output(int file) noexcept {
    while (::flock(file, LOCK_EX) != 0 && errno == EINTR) {
    }
}
inline void unlock_output(int file) noexcept { ::flock(file, LOCK_UN); }
// False: another writer has locked the file, or has renamed or removed the file since it was opened.
inline bool try_lock_output(int file, const char* path) noexcept {
    struct stat open{}, named{};
    return (::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && ::fstat(file, &open) == 0 &&
           ::stat(path, &named) == 0 && open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

inline bool is_terminal(int file) noexcept { return ::isatty(file) == 1; }
// Whether the file is a terminal that interprets escape sequences. `type`: the value of TERM.
inline bool draws_on_terminal(int file, std::string_view type) noexcept {
    return is_terminal(file) && !type.empty() && type != "dumb";
}
// Whether a write would return at once, maybe with an error. A write waits while a terminal is stopped (by
// Ctrl-S), or while a pipe is full.
inline bool takes_output(int file) noexcept {
    pollfd asked{file, POLLOUT, 0};
    return ::poll(&asked, 1, 0) != 0;
}

// The current size of the terminal; 80 columns and 24 rows if the system doesn't tell.
inline terminal_size size_of_terminal(int file) noexcept {
    winsize size{};
    if (::ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
    return {size.ws_col, size.ws_row};
}

// Reads `size` bytes from offset `from`, or as many as there are: all of one file, also if another file
// replaces it meanwhile. Returns the number of bytes; negative: an error, also for a named pipe.
inline std::int64_t read_of_file(const char* path, std::int64_t from, char* to, std::size_t size) noexcept {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return -1;
    std::int64_t read = 0, n = 1;
    while (n > 0 && static_cast<std::size_t>(read) < size) {
        n = ::pread(file, to + read, size - static_cast<std::size_t>(read), from + read);
        read += n;
    }
    ::close(file);
    return n < 0 ? n : read;
}

#else

inline void* handle_of(int file) noexcept { return reinterpret_cast<void*>(_get_osfhandle(file)); }

// The text is UTF-8, whatever code page a console has. To a console, writes at most 2048 bytes.
inline std::int64_t write_output(int file, const char* from, std::size_t size) noexcept {
    unsigned long n = 0;
    if (file < 0 || GetConsoleMode(handle_of(file), &n) == 0)
        return _write(file, from, static_cast<unsigned>(size < 1 << 30 ? size : 1 << 30));
    constexpr std::size_t most = 2048;  // each byte becomes at most one unit of UTF-16
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

inline std::FILE* open_input(const char* path) { return _wfopen(wide(path).c_str(), L"rb"); }

// An append is not atomic here: several processes that write to one file have to lock it.
inline int open_output(const char* path) {
    constexpr int how = _O_WRONLY | _O_CREAT | _O_APPEND | _O_BINARY | _O_NOINHERIT;
    return _wopen(wide(path).c_str(), how, _S_IREAD | _S_IWRITE);
}
inline bool is_device(const char* path) {
    struct _stat64 seen{};
    return _wstat64(wide(path).c_str(), &seen) == 0 && (seen.st_mode & _S_IFMT) != _S_IFREG;
}
inline std::string behind_links(std::string path) { return path; }
inline void copy_permissions(const char*, int) noexcept {}
inline void close_output(int file) noexcept { _close(file); }
// -1 if the file is not regular.
inline std::int64_t size_of_output(int file) noexcept {
    struct _stat64 seen{};
    return _fstat64(file, &seen) == 0 && (seen.st_mode & _S_IFMT) == _S_IFREG ? seen.st_size : -1;
}
inline int cut_output(int file, std::int64_t size) noexcept { return _chsize_s(file, size) == 0 ? 0 : -1; }
// Close the file first: no open file can be renamed. Fail if another writer opens the file in between.
inline void remove_output(int file, const char* path) { _close(file), _wremove(wide(path).c_str()); }
inline bool rename_output(int file, const char* from, const char* to) {
    _close(file);
    const bool renamed = replace_file(wide(from).c_str(), wide(to).c_str());
    if (!renamed) _wremove(wide(from).c_str());
    errno = EACCES;
    return renamed;
}
inline int sync_output(int file) noexcept { return _commit(file); }
inline void sync_folder_of(const char*) noexcept {}

// Locks on Windows are mandatory, so `lock_output` locks a byte beyond any file's end.
struct lock_place {  // an OVERLAPPED
    std::uintptr_t status[2] = {};
    unsigned long from[2] = {0, 0x4000'0000};
    void* event = nullptr;
};
inline void lock_output(int file) noexcept {
    constexpr unsigned long exclusive = 2;
    lock_place place;
    LockFileEx(handle_of(file), exclusive, 0, 1, 0, reinterpret_cast<_OVERLAPPED*>(&place));
}
inline bool try_lock_output(int file, const char*) noexcept {
    constexpr unsigned long exclusive_at_once = 3;
    lock_place place;
    const auto at = reinterpret_cast<_OVERLAPPED*>(&place);
    return LockFileEx(handle_of(file), exclusive_at_once, 0, 1, 0, at) != 0;
}
inline void unlock_output(int file) noexcept {
    lock_place place;
    UnlockFileEx(handle_of(file), 0, 1, 0, reinterpret_cast<_OVERLAPPED*>(&place));
}

inline bool is_terminal(int file) noexcept {
    unsigned long mode = 0;
    return file >= 0 && GetConsoleMode(handle_of(file), &mode) != 0;
}
// Switches a console to interpret escape sequences. False: the file is no console, the console can't,
// `type` is `dumb`, or the program runs in Wine.
inline bool draws_on_terminal(int file, std::string_view type) noexcept {
    constexpr unsigned long escapes = 4;
    unsigned long mode = 0;
    return type != "dumb" && !is_wine() && is_terminal(file) && GetConsoleMode(handle_of(file), &mode) != 0 &&
           SetConsoleMode(handle_of(file), mode | escapes) != 0;
}
inline bool takes_output(int) noexcept { return true; }
// The size of the window, not of the whole buffer.
inline terminal_size size_of_terminal(int file) noexcept {
    struct {  // a CONSOLE_SCREEN_BUFFER_INFO
        short size[2], cursor[2], attributes, left, top, right, bottom, most[2];
    } seen{};
    const auto into = reinterpret_cast<_CONSOLE_SCREEN_BUFFER_INFO*>(&seen);
    if (file < 0 || GetConsoleScreenBufferInfo(handle_of(file), into) == 0) return {};
    const int columns = seen.right - seen.left + 1;
    const int rows = seen.bottom - seen.top + 1;
    if (columns <= 0 || rows <= 0) return {};
    return {static_cast<unsigned>(columns), static_cast<unsigned>(rows)};
}

// Reads up to `size` bytes from offset `from`. Returns the number of bytes; negative: an error.
inline std::int64_t read_of_file(const char* path, std::int64_t from, char* to, std::size_t size) {
    const int file = _wopen(wide(path).c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT);
    if (file < 0) return -1;
    const bool there = _lseeki64(file, from, 0) == from;
    const std::int64_t n = there ? _read(file, to, static_cast<unsigned>(size)) : -1;
    _close(file);
    return n;
}

#endif

// Writes the whole text, by one call of `write` if possible. On failure returns false and sets errno; a part
// may have been written. A write of 0 bytes is a failure, EIO: the same may come of each further write.
inline bool write_whole(int file, std::string_view text,
                        decltype(&write_output) write = write_output) noexcept {
    while (!text.empty()) {
        const std::int64_t n = write(file, text.data(), text.size());
        if (n == 0) errno = EIO;
        if (n <= 0 && errno != EINTR) return false;
        if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

}  // namespace weir::detail

#endif
