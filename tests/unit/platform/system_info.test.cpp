#include <weir/platform/system_info.hpp>

#include "support/catch.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/platform/platform.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#if defined(__linux__)
#include <sched.h>
#endif

namespace {

namespace fs = std::filesystem;

// A tree of files that is gone at the end.
class tree {
  public:
    using files_by_name = std::map<std::string, std::string>;
    explicit tree(const files_by_name& files)
        : root_(fs::temp_directory_path() / ("weir_cgroup_" + std::to_string(number_++))) {
        fs::remove_all(root_);
        for (const auto& [name, text] : files) {
            fs::create_directories((root_ / name).parent_path());
            std::ofstream(root_ / name) << text;
        }
    }
    tree(const tree&) = delete;
    tree& operator=(const tree&) = delete;
    ~tree() { fs::remove_all(root_); }
    unsigned quota() const { return weir::detail::cgroup_quota::read(root_.string()); }

  private:
    inline static int number_ = 0;
    const fs::path root_;
};

}  // namespace

TEST_CASE("the quota of a control group of version 2 counts in whole processors, rounded up") {
    const auto of = [](const std::string& max) {
        return tree({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", max}}).quota();
    };
    CHECK(of("100000 100000\n") == 1);
    CHECK(of("150000 100000\n") == 2);
    CHECK(of("10000 100000\n") == 1);
    CHECK(of("6400000 100000\n") == 64);
    CHECK(of("max 100000\n") == 0);
    CHECK(of("") == 0);
    CHECK(of("100000\n") == 0);
    CHECK(of("100000 0\n") == 0);
    CHECK(of("-1 100000\n") == 0);
    CHECK(of("9223372036854775807 1\n") == 4294967295U);
}

TEST_CASE("the quota is the minimum over a control group and its parents") {
    CHECK(tree({{"proc/self/cgroup", "0::/a/b\n"},
                {"sys/fs/cgroup/a/cpu.max", "200000 100000\n"},
                {"sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}})
              .quota() == 2);
    CHECK(tree({{"proc/self/cgroup", "0::/a/b\n"},
                {"sys/fs/cgroup/cpu.max", "300000 100000\n"},
                {"sys/fs/cgroup/a/cpu.max", "500000 100000\n"},
                {"sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"}})
              .quota() == 3);
}

TEST_CASE("the quota of a control group of version 1 is that of its controller named cpu") {
    const std::string groups = "12:cpuset:/x\n4:cpu,cpuacct:/docker/1\n3:cpuacct2:/y\n0::/\n";
    CHECK(tree({{"proc/self/cgroup", groups},
                {"sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us", "250000\n"},
                {"sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_period_us", "100000\n"}})
              .quota() == 3);
    // Inside of the container its group is the topmost.
    CHECK(tree({{"proc/self/cgroup", groups},
                {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"},
                {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}})
              .quota() == 1);
    CHECK(tree({{"proc/self/cgroup", groups},
                {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}})
              .quota() == 0);
}

TEST_CASE("without control groups, or with such as nobody knows, there is no quota") {
    CHECK(tree(tree::files_by_name{{"proc/self/other", ""}}).quota() == 0);
    CHECK(tree(tree::files_by_name{{"proc/self/cgroup", ""}}).quota() == 0);
    CHECK(tree(tree::files_by_name{{"proc/self/cgroup", "nonsense\n\n1:\n0:/\n:::\n"}}).quota() == 0);
    CHECK(tree({{"proc/self/cgroup", "0::"}, {"sys/fs/cgroup/cpu.max", "100000 100000"}}).quota() == 1);
}

#if defined(__linux__)
TEST_CASE("a pool has by default as many workers as the affinity mask allows") {
    cpu_set_t before;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    }
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    {
        const weir::thread_pool pool;
        CHECK(pool.workers() == 1);
        CHECK(weir::detail::standard_platform::processors() == 1);
    }
    REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
}
#endif

using weir::detail::bytes_in;
using weir::detail::memory_in;
using weir::detail::process_counts;
using weir::detail::process_memory;
using weir::detail::standard_platform;

TEST_CASE("memory is read from the lines that name it") {
    const process_memory m =
        memory_in("Name:\tVmRSS: 7 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t3\n");
    CHECK(m.resident == 1024 * 1024);
    CHECK(m.peak == 2048 * 1024);
}

TEST_CASE("a value that is missing or malformed is unknown") {
    CHECK(memory_in("").resident == -1);
    CHECK(memory_in("Name:\tcat\nVmRSS:\t1024 kB\n").peak == -1);
    CHECK(bytes_in("a\nVmRSS:\t1024 MB\n", "\nVmRSS:") == -1);
    CHECK(bytes_in("a\nVmRSS:\t-5 kB\n", "\nVmRSS:") == -1);
    CHECK(bytes_in("a\nVmRSS:", "\nVmRSS:") == -1);
}

TEST_CASE("a file that is missing is no text, and of a long one as much is read as there is room for") {
    char text[8] = {};
    CHECK_FALSE(weir::detail::read_text("/nowhere/at/all", text));
#if defined(__linux__)
    CHECK(weir::detail::read_text("/proc/self/status", text));
    CHECK(std::string(text).substr(0, 6) == "Name:\t");
    CHECK(text[7] == '\0');
#endif
}

#if defined(__linux__)
TEST_CASE("Linux says what this process has used, and it only grows") {
    const process_counts before = standard_platform::count_process();
    CHECK(before.user_time >= 0);
    CHECK(before.system_time >= 0);
    CHECK(before.minor_faults > 0);
    CHECK(before.major_faults >= 0);
    CHECK(before.voluntary_switches >= 0);
    CHECK(before.involuntary_switches >= 0);
    const process_counts after = standard_platform::count_process();
    CHECK(after.user_time + after.system_time >= before.user_time + before.system_time);
    CHECK(after.minor_faults >= before.minor_faults);

    const process_memory memory = standard_platform::measure_memory();
    CHECK(memory.resident > 0);
    CHECK(memory.peak >= memory.resident);
    CHECK(standard_platform::processors() >= 1);
}
#endif

TEST_CASE("the text behind a label of the system's files is found, or nothing") {
    const auto path = (std::filesystem::temp_directory_path() / "weir system_info test").string();
    std::ofstream(path) << "processor\t: 0\nmodel name\t: A: B 3000\nflags\t\t:\nMemTotal:       16 kB\n";
    CHECK(weir::detail::line_of_system(path.c_str(), "model name") == "A: B 3000");
    CHECK(weir::detail::line_of_system(path.c_str(), "MemTotal") == "16 kB");
    CHECK(weir::detail::line_of_system(path.c_str(), "flags").empty());
    CHECK(weir::detail::line_of_system(path.c_str(), "bogomips").empty());
    std::filesystem::remove(path);
    CHECK(weir::detail::line_of_system(path.c_str(), "model name").empty());
}

TEST_CASE("the date is written as ISO 8601 has it") {
    const std::string now = weir::detail::utc_now();
    REQUIRE(now.size() == 20);
    CHECK(now[4] == '-');
    CHECK(now[10] == 'T');
    CHECK(now[19] == 'Z');
    CHECK(now > "2026");
}
