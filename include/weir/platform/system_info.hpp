// weir platform, internal: what the system tells of process and machine: processors, memory, names, the date
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SYSTEM_INFO_HPP
#define WEIR_PLATFORM_SYSTEM_INFO_HPP

#include <weir/platform/numbers.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <cstdio>       // for std::FILE, std::fopen
#include <ctime>        // for std::strftime, std::time
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <version>      // for the library's macros

#if __has_include(<sys/utsname.h>)
#include <sys/utsname.h>  // for uname
#endif

namespace weir::detail {

// The content of a file; empty if the file can't be read.
std::string text_of_file(const std::string& name);

// The CPU quota of this process by Linux control groups, in processors, rounded up; 0: no limit. The minimum
// over the process's group and all parent groups. `root`: a prefix of all paths, for tests.
class cgroup_quota {
  public:
    static unsigned read(const std::string& root);

  private:
    // The quota of the group in a line `number:controllers:path` of /proc/self/cgroup; 0: none. In version 2
    // of control groups the line names no controllers; in version 1, the controller `cpu` has the quota.
    static unsigned of_line(const std::string& mount, std::string_view line);
    // The minimum of `in` over the group and its parents up to the mount point; in a container, the mount
    // point may be the container's own group. 0: no limit.
    static unsigned of_path(const std::string& mount, std::string path, unsigned (*in)(const std::string&));
    static unsigned in_version_2(const std::string& folder);
    static unsigned in_version_1(const std::string& folder);
    static unsigned rounded(const char* quota, const char* period);
    // Replaces `least` by `limit` if that is smaller. 0 in both: no limit.
    static void add(unsigned& least, unsigned limit) noexcept;
};

// The number of processors that the calling thread may use: the number in its affinity mask, or the quota of
// `cgroup_quota` if that is smaller. The quota is read once. 0: the mask is unknown.
unsigned available_processors() noexcept;

// The number of bytes that a line of `text`, such as `VmRSS:     1234 kB`, states; -1: there is no such line.
// `label`: the beginning of the line, here `VmRSS:`.
std::int64_t bytes_in(const char* text, const char* label) noexcept;

// The memory in the text of /proc/self/status. (getrusage is no alternative: its peak includes that of the
// program that started this process.)
process_memory memory_in(const char* text) noexcept;

// Reads a file, or its beginning if the array is too small. False: the file can't be opened.
template <std::size_t N>
bool read_text(const char* name, char (&text)[N]) noexcept {
    std::FILE* const file = std::fopen(name, "r");
    if (file == nullptr) return false;
    text[std::fread(text, 1, N - 1, file)] = '\0';
    return std::fclose(file) == 0;
}

inline unsigned standard_platform::processors() noexcept { return available_processors(); }

// Finds, in a file, the first line that begins with `label`. Returns the line's text after the colon; empty:
// there is none.
std::string line_of_system(const char* file, const std::string& label);

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
    const std::int64_t bytes = bytes_in(text_of_file("/proc/meminfo").c_str(), "MemTotal:");
    return static_cast<std::uint64_t>(larger<std::int64_t>(bytes, 0));
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
#if defined(__OPTIMIZE__) || (defined(_MSC_VER) && !defined(_DEBUG))
inline constexpr bool is_optimised = true;
#else
inline constexpr bool is_optimised = false;
#endif

#if defined(NDEBUG)
inline constexpr bool has_assertions = false;
#else
inline constexpr bool has_assertions = true;
#endif

// The current time in UTC: `2026-11-25T02:54:16Z`.
inline std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
#if defined(_WIN32)
    gmtime_s(&utc, &now);
#else
    gmtime_r(&now, &utc);
#endif
    char text[32];
    return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc));
}

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/platform/system_info.ipp>
#endif

#endif
