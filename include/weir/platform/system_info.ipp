// weir platform, internal: bodies of the functions of platform/system_info.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SYSTEM_INFO_IPP
#define WEIR_PLATFORM_SYSTEM_INFO_IPP

#include <weir/platform/system_info.hpp>

#include <weir/platform/config.hpp>

#include <cstdlib>  // for std::strtoll
#include <cstring>  // for std::strstr

namespace weir::detail {

WEIR_INLINE std::string text_of_file(const std::string& name) {
    std::string text;
    std::FILE* const file = std::fopen(name.c_str(), "r");
    if (file == nullptr) return text;
    char part[512];
    for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, file)) != 0;) text.append(part, n);
    std::fclose(file);
    return text;
}

WEIR_INLINE std::string line_of_system(const char* file, const std::string& label) {
    const std::string text = "\n" + text_of_file(file);
    for (std::size_t at = 0; (at = text.find("\n" + label, at)) != text.npos; ++at) {
        const std::size_t end = smaller(text.find('\n', at + 1), text.size());
        const std::size_t colon = text.find(':', at);
        const std::size_t value = colon < end ? text.find_first_not_of(" \t", colon + 1) : end;
        if (value < end) return text.substr(value, end - value);
    }
    return {};
}

WEIR_INLINE unsigned cgroup_quota::read(const std::string& root) {
    unsigned least = 0;
    const std::string all = text_of_file(root + "/proc/self/cgroup");
    for (std::size_t begin = 0; begin < all.size();) {
        const std::size_t end = smaller(all.find('\n', begin), all.size());
        add(least, of_line(root + "/sys/fs/cgroup", std::string_view(all).substr(begin, end - begin)));
        begin = end + 1;
    }
    return least;
}

WEIR_INLINE unsigned cgroup_quota::of_line(const std::string& mount, std::string_view line) {
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

WEIR_INLINE unsigned cgroup_quota::of_path(const std::string& mount, std::string path,
                                           unsigned (*in)(const std::string&)) {
    unsigned least = 0;
    while (true) {
        add(least, in(mount + path + (path.ends_with('/') ? "" : "/")));
        if (path.empty()) return least;
        path.resize(smaller(path.rfind('/'), path.size() - 1));
    }
}

WEIR_INLINE unsigned cgroup_quota::in_version_2(const std::string& folder) {
    const std::string text = text_of_file(folder + "cpu.max");  // `max 100000`, or the quota and the period
    const std::size_t blank = text.find(' ');
    return blank == text.npos ? 0 : rounded(text.c_str(), text.c_str() + blank);
}

WEIR_INLINE unsigned cgroup_quota::in_version_1(const std::string& folder) {
    return rounded(text_of_file(folder + "cpu.cfs_quota_us").c_str(),  // -1: no limit
                   text_of_file(folder + "cpu.cfs_period_us").c_str());
}

WEIR_INLINE unsigned cgroup_quota::rounded(const char* quota, const char* period) {
    const std::int64_t of = std::strtoll(period, nullptr, 10);
    const std::int64_t share = std::strtoll(quota, nullptr, 10);
    return of <= 0 || share <= 0
               ? 0
               : static_cast<unsigned>(smaller<std::int64_t>((share - 1) / of + 1, UINT32_MAX));
}

WEIR_INLINE void cgroup_quota::add(unsigned& least, unsigned limit) noexcept {
    if (limit != 0) least = least == 0 ? limit : smaller(least, limit);
}

WEIR_INLINE unsigned available_processors() noexcept {
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

WEIR_INLINE std::int64_t bytes_in(const char* text, const char* label) noexcept {
    const char* const line = std::strstr(text, label);
    if (line == nullptr) return -1;
    char* end = nullptr;
    const long long n = std::strtoll(line + std::strlen(label), &end, 10);
    return n < 0 || std::strncmp(end, " kB", 3) != 0 ? -1 : std::int64_t{n} * 1024;
}

WEIR_INLINE process_memory memory_in(const char* text) noexcept {
    return {bytes_in(text, "\nVmRSS:"), bytes_in(text, "\nVmHWM:")};
}

// Takes 20 us.
WEIR_INLINE process_memory standard_platform::measure_memory() noexcept {
    const process_memory known = memory_of_process();
    if (known.resident >= 0) return known;
    char text[4096];
    return read_text("/proc/self/status", text) ? memory_in(text) : process_memory();
}

// Takes 2 us. A kernel without I/O accounting reports 0 blocks and has no /proc/self/io: the counts are -1
// then.
WEIR_INLINE process_counts standard_platform::count_process() noexcept {
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
