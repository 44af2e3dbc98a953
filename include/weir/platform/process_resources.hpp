// weir platform, internal: reads from Linux how many processors the process may use, and its memory
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PROCESS_RESOURCES_HPP
#define WEIR_PLATFORM_PROCESS_RESOURCES_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <cstdio>       // for std::FILE, std::fopen
#include <string>       // for std::string
#include <string_view>  // for std::string_view

namespace weir::detail {

// The content of a file; empty if it doesn't exist.
std::string text_of_file(const std::string& name);

// The CPU quota of this process by Linux control groups, in processors, rounded up, as in Rust's
// available_parallelism and Go's GOMAXPROCS; 0: no limit. The minimum over its group and all parent groups.
// `root`: a prefix of all paths, for tests.
class cgroup_quota {
  public:
    static unsigned read(const std::string& root);

  private:
    // The quota of the group in a line `number:controllers:path`; 0: none. In version 2 of control groups the
    // line names no controllers; in version 1, the controller `cpu` has the quota.
    static unsigned of_line(const std::string& mount, std::string_view line);
    // The minimum of `in` over the group and its parents up to the mount point, where a container may see its
    // own group.
    static unsigned of_path(const std::string& mount, std::string path, unsigned (*in)(const std::string&));
    static unsigned in_version_2(const std::string& folder);
    static unsigned in_version_1(const std::string& folder);
    static unsigned rounded(const char* quota, const char* period);
    static void add(unsigned& least, unsigned limit) noexcept;
};

// The number of processors that the calling thread may use: the smaller of its affinity mask and the quota,
// which is read once; 0: unknown.
unsigned available_processors() noexcept;

// The number in a line such as `VmRSS:     1234 kB` of /proc/self/status, in bytes; -1: there is no such
// line. `label`: the text before the number.
std::int64_t kilobytes_in(const char* text, const char* label) noexcept;

// The memory in the text of /proc/self/status. (getrusage is no alternative: its peak includes that of the
// program that started this process.)
process_memory memory_in(const char* text) noexcept;

// Reads a file, or its beginning if the array is too small. False: the file doesn't exist, as on systems
// other than Linux.
template <std::size_t N>
bool read_text(const char* name, char (&text)[N]) noexcept {
    std::FILE* const file = std::fopen(name, "r");
    if (file == nullptr) return false;
    text[std::fread(text, 1, N - 1, file)] = '\0';
    std::fclose(file);
    return true;
}

inline unsigned standard_platform::processors() noexcept { return available_processors(); }

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/platform/process_resources.ipp>
#endif

#endif
