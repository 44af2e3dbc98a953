// weir platform, internal: how many processors this process may use
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PROCESSORS_HPP
#define WEIR_PLATFORM_PROCESSORS_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/system.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <cstdio>       // for std::FILE, std::fopen
#include <cstdlib>      // for std::strtoll
#include <string>       // for std::string
#include <string_view>  // for std::string_view

namespace weir::detail {

// Empty where there is no such file.
inline std::string text_of_file(const std::string& name) {
    std::string text;
    std::FILE* const file = std::fopen(name.c_str(), "r");
    if (file == nullptr) return text;
    char part[512];
    for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, file)) != 0;) text.append(part, n);
    std::fclose(file);
    return text;
}

// The processor time that control groups of Linux allow this process, in whole processors, rounded up, as
// Rust's available_parallelism and Go's GOMAXPROCS have it; 0: no limit. The least of its group and of all
// groups above. `root`: what stands before each path, for tests.
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
    // Of `number:controllers:path`. Version 2 names no controllers, and of 1 the one named cpu counts.
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
    // A container may see its own group as the topmost, whatever its path is outside.
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

// By the affinity mask as it is now, and the quota as it was at the first call; 0: unknown.
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

}  // namespace weir::detail

#endif
