// weir platform, internal: what this process has used, and how much memory it has
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PROCESS_USAGE_HPP
#define WEIR_PLATFORM_PROCESS_USAGE_HPP

#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t
#include <cstdio>   // for std::fopen
#include <cstdlib>  // for std::strtoll
#include <cstring>  // for std::strstr

namespace weir::detail {

// Of a text as /proc/self/status, in which a line is `VmRSS:     1234 kB`.
inline std::int64_t kilobytes_in(const char* text, const char* label) noexcept {
    const char* const line = std::strstr(text, label);
    if (line == nullptr) return -1;
    char* end = nullptr;
    const long long n = std::strtoll(line + std::strlen(label), &end, 10);
    return n < 0 || std::strncmp(end, " kB", 3) != 0 ? -1 : std::int64_t{n} * 1024;
}

// (The peak that getrusage knows is also that of the program which started this one.)
inline process_memory memory_in(const char* text) noexcept {
    return {kilobytes_in(text, "\nVmRSS:"), kilobytes_in(text, "\nVmHWM:")};
}

// A file of the system's as text, or as much of it as there is room for; false: there is none. Only Linux has
// those that are asked for here.
template <std::size_t N>
bool read_text(const char* name, char (&text)[N]) noexcept {
    std::FILE* const file = std::fopen(name, "r");
    if (file == nullptr) return false;
    text[std::fread(text, 1, N - 1, file)] = '\0';
    std::fclose(file);
    return true;
}

// 20 us.
inline process_memory standard_platform::measure_memory() noexcept {
    const process_memory known = memory_of_process();
    if (known.resident >= 0) return known;
    char text[4096];
    return read_text("/proc/self/status", text) ? memory_in(text) : process_memory();
}

// 2 us. A system that doesn't account for what is read and written counts 0, and lacks the file.
inline process_counts standard_platform::count_process() noexcept {
    static const bool accounts = [] {
        char text[256];
        return read_text("/proc/self/io", text);
    }();
    process_counts counts = detail::count_process();
    if (!accounts) counts.blocks_read = counts.blocks_written = -1;
    return counts;
}

}  // namespace weir::detail

#endif
