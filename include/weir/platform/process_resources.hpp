// weir platform, internal: the processors that this process may use, and its processor time, I/O and memory
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PROCESS_RESOURCES_HPP
#define WEIR_PLATFORM_PROCESS_RESOURCES_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <cstdio>       // for std::FILE, std::fopen
#include <cstdlib>      // for std::strtoll
#include <cstring>      // for std::strstr
#include <string>       // for std::string
#include <string_view>  // for std::string_view

namespace weir::detail {

// The content of a file; empty if it doesn't exist.
inline std::string text_of_file(const std::string& name) {
    std::string text;
    std::FILE* const file = std::fopen(name.c_str(), "r");
    if (file == nullptr) return text;
    char part[512];
    for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, file)) != 0;) text.append(part, n);
    std::fclose(file);
    return text;
}

// The CPU quota of this process by Linux control groups, in processors, rounded up, as in Rust's
// available_parallelism and Go's GOMAXPROCS; 0: no limit. The minimum over its group and all parent groups.
// `root`: a prefix of all paths, for tests.
class cgroup_quota {
  public:
    static unsigned read(const std::string& root) {
        unsigned least = 0;
        const std::string all = text_of_file(root + "/proc/self/cgroup");
        for (std::size_t begin = 0; begin < all.size();) {
            const std::size_t end = smaller(all.find('\n', begin), all.size());
            add(least, of_line(root + "/sys/fs/cgroup", std::string_view(all).substr(begin, end - begin)));
            begin = end + 1;
        }
        return least;
    }

  private:
    // Parses a line `number:controllers:path`. Version 2 names no controllers; in version 1, `cpu` has the
    // quota.
    static unsigned of_line(const std::string& mount, std::string_view line) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
        if (second == line.npos) return 0;
        const std::string controllers(line.substr(first + 1, second - first - 1));
        const std::string path(line.substr(second + 1));
        if (controllers.empty()) {
            const unsigned unified = of_path(mount, path, &in_version_2);
            return unified != 0 ? unified : of_path(mount + "/unified", path, &in_version_2);
        }
        if (("," + controllers + ",").find(",cpu,") == std::string::npos) return 0;
        const unsigned joined = of_path(mount + "/" + controllers, path, &in_version_1);
        return joined != 0 ? joined : of_path(mount + "/cpu", path, &in_version_1);
    }
    // Looks at all parents up to the mount point, as a container may see its own group there.
    static unsigned of_path(const std::string& mount, std::string path, unsigned (*in)(const std::string&)) {
        unsigned least = 0;
        while (true) {
            add(least, in(mount + path + (path.ends_with('/') ? "" : "/")));
            if (path.empty()) return least;
            path.resize(smaller(path.rfind('/'), path.size() - 1));
        }
    }
    static unsigned in_version_2(const std::string& folder) {
        const std::string text =
            text_of_file(folder + "cpu.max");  // `max 100000`, or the quota and the period
        const std::size_t blank = text.find(' ');
        return blank == text.npos ? 0 : rounded(text.c_str(), text.c_str() + blank);
    }
    static unsigned in_version_1(const std::string& folder) {
        return rounded(text_of_file(folder + "cpu.cfs_quota_us").c_str(),  // -1: no limit
                       text_of_file(folder + "cpu.cfs_period_us").c_str());
    }
    static unsigned rounded(const char* quota, const char* period) {
        const std::int64_t of = std::strtoll(period, nullptr, 10);
        const std::int64_t share = std::strtoll(quota, nullptr, 10);
        return of <= 0 || share <= 0
                   ? 0
                   : static_cast<unsigned>(smaller<std::int64_t>((share - 1) / of + 1, UINT32_MAX));
    }
    static void add(unsigned& least, unsigned limit) noexcept {
        if (limit != 0) least = least == 0 ? limit : smaller(least, limit);
    }
};

// The number of processors that this process may use: the smaller of the current affinity mask and the quota,
// which is read once; 0: unknown.
inline unsigned available_processors() noexcept {
    static const unsigned quota = [] {
        try {
            return cgroup_quota::read("");
        } catch (...) {  // no memory
            return 0U;
        }
    }();
    const unsigned by_mask = usable_processors();
    return quota == 0 || by_mask == 0 ? by_mask : smaller(quota, by_mask);
}

// Parses a line `VmRSS:     1234 kB` of /proc/self/status. In bytes; -1: not there.
inline std::int64_t kilobytes_in(const char* text, const char* label) noexcept {
    const char* const line = std::strstr(text, label);
    if (line == nullptr) return -1;
    char* end = nullptr;
    const long long n = std::strtoll(line + std::strlen(label), &end, 10);
    return n < 0 || std::strncmp(end, " kB", 3) != 0 ? -1 : std::int64_t{n} * 1024;
}

// (The peak of getrusage is no alternative: it includes that of the program which started this one.)
inline process_memory memory_in(const char* text) noexcept {
    return {kilobytes_in(text, "\nVmRSS:"), kilobytes_in(text, "\nVmHWM:")};
}

// Reads a file of the system, or its beginning if the array is too small. False: it does not exist, as on
// systems other than Linux.
template <std::size_t N>
bool read_text(const char* name, char (&text)[N]) noexcept {
    std::FILE* const file = std::fopen(name, "r");
    if (file == nullptr) return false;
    text[std::fread(text, 1, N - 1, file)] = '\0';
    std::fclose(file);
    return true;
}

inline unsigned standard_platform::processors() noexcept { return available_processors(); }

// Takes 20 us.
inline process_memory standard_platform::measure_memory() noexcept {
    const process_memory known = memory_of_process();
    if (known.resident >= 0) return known;
    char text[4096];
    return read_text("/proc/self/status", text) ? memory_in(text) : process_memory();
}

// Takes 2 us. A kernel without I/O accounting reports 0 blocks and has no /proc/self/io: the counts are -1
// then.
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
