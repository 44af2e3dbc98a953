// A pipe, as POSIX and Windows have it.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_PIPE_HPP
#define WEIR_TESTS_SUPPORT_PIPE_HPP

#include <fcntl.h>  // for _O_BINARY
#include <cstddef>
#include <string>
#if defined(_WIN32)
#include <io.h>  // for _pipe, close, dup, read
extern "C" __declspec(dllimport) int __stdcall PeekNamedPipe(void*, void*, unsigned long, unsigned long*,
                                                             unsigned long*, unsigned long*);
#else
#include <unistd.h>  // for pipe, close, dup, read
#endif

namespace pipes {

// To read from, to write to. False: there can't be one.
inline bool open_pipe(int (&ends)[2]) {
#if defined(_WIN32)
    return _pipe(ends, 65536, _O_BINARY) == 0;
#else
    return ::pipe(ends) == 0;
#endif
}

// What was written to one end, or to the other side of a terminal, and not read yet.
inline std::string read_all(int file) {
    std::string all;
    char part[4096];
#if defined(_WIN32)
    unsigned long there = 0;
    const auto handle = reinterpret_cast<void*>(_get_osfhandle(file));
    while (PeekNamedPipe(handle, nullptr, 0, nullptr, &there, nullptr) != 0 && there != 0)
        all.append(part, static_cast<std::size_t>(read(file, part, sizeof part)));
#else
    fcntl(file, F_SETFL, O_NONBLOCK);
    for (ssize_t n = 0; (n = read(file, part, sizeof part)) > 0;)
        all.append(part, static_cast<std::size_t>(n));
#endif
    return all;
}

}  // namespace pipes

#endif
