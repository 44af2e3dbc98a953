// weir platform, internal: names of the machine, the system and the compiler, and the date, for reports
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SYSTEM_INFO_HPP
#define WEIR_PLATFORM_SYSTEM_INFO_HPP

#include <weir/platform/system.hpp>

#include <chrono>   // for std::chrono::system_clock
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <cstdio>   // for std::snprintf
#include <ctime>    // for std::time_t
#include <fstream>  // for std::ifstream
#include <string>   // for std::string
#include <version>  // for the library's macros

#if __has_include(<sys/utsname.h>)
#include <sys/utsname.h>  // for uname
#endif

namespace weir::detail {

// The text after the colon in the first line of a file that begins with `label`; empty: there is none.
inline std::string line_of_system(const char* file, const std::string& label) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(label)) continue;
        const std::size_t colon = line.find(':');
        const std::size_t text = colon == line.npos ? line.npos : line.find_first_not_of(" \t", colon + 1);
        if (text != line.npos) return line.substr(text);
    }
    return {};
}

// The host name; empty: unknown.
inline std::string name_of_host() {
#if __has_include(<sys/utsname.h>)
    utsname u{};
    if (uname(&u) == 0) return u.nodename;
#elif defined(_WIN32)
    char name[64] = {};
    unsigned long size = sizeof name;
    if (GetComputerNameA(name, &size) != 0) return name;
#endif
    return {};
}

// `Linux 6.1.0 x86_64`; empty: unknown.
inline std::string name_of_system() {
#if __has_include(<sys/utsname.h>)
    utsname u{};
    if (uname(&u) == 0) return std::string(u.sysname) + " " + u.release + " " + u.machine;
#elif defined(_WIN32)
    return "Windows";
#endif
    return {};
}

// The memory of the machine in bytes; 0: unknown.
inline std::uint64_t memory_of_machine() {
#if defined(_WIN32)
    return memory_of_windows();
#else
    const std::string text = line_of_system("/proc/meminfo", "MemTotal");
    std::uint64_t kilobytes = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') break;
        kilobytes = kilobytes * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return kilobytes * 1024;
#endif
}

inline std::string name_of_compiler() {
#if defined(__clang__)
    return std::string("clang ") + __clang_version__;
#elif defined(__GNUC__)
    return std::string("g++ ") + __VERSION__;
#elif defined(_MSC_VER)
    return "MSVC " + std::to_string(_MSC_FULL_VER);
#else
    return {};
#endif
}

inline std::string name_of_library() {
#if defined(_LIBCPP_VERSION)
    return "libc++ " + std::to_string(_LIBCPP_VERSION);
#elif defined(_GLIBCXX_RELEASE)
    return "libstdc++ " + std::to_string(_GLIBCXX_RELEASE);
#elif defined(_MSVC_STL_VERSION)
    return "MSVC STL " + std::to_string(_MSVC_STL_VERSION);
#else
    return {};
#endif
}

// Whether the compiler optimises. MSVC doesn't tell: true if its debug libraries are not used.
inline constexpr bool is_optimised =
#if defined(__OPTIMIZE__) || (defined(_MSC_VER) && !defined(_DEBUG))
    true;
#else
    false;
#endif

inline constexpr bool has_assertions =
#if defined(NDEBUG)
    false;
#else
    true;
#endif

// The current time in UTC: `2026-11-25T02:54:16Z`.
inline std::string utc_now() {
    const std::chrono::sys_seconds now =
        std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto day = std::chrono::floor<std::chrono::days>(now);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(now - day);
    char text[64];
    std::snprintf(text, sizeof(text), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    return text;
}

}  // namespace weir::detail

#endif
