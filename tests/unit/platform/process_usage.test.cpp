#include <weir/platform/process_usage.hpp>

#include "support/catch.hpp"

#include <string>

using weir::detail::kilobytes_in;
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

TEST_CASE("what a text doesn't say, or says in another way, is unknown") {
    CHECK(memory_in("").resident == -1);
    CHECK(memory_in("Name:\tcat\nVmRSS:\t1024 kB\n").peak == -1);
    CHECK(kilobytes_in("a\nVmRSS:\t1024 MB\n", "\nVmRSS:") == -1);
    CHECK(kilobytes_in("a\nVmRSS:\t-5 kB\n", "\nVmRSS:") == -1);
    CHECK(kilobytes_in("a\nVmRSS:", "\nVmRSS:") == -1);
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
