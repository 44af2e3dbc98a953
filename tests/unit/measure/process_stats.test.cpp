#include <weir/measure/process_stats.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <mutex>

using namespace std::chrono_literals;
using weir::process_stats;
using weir::detail::process_counts;
using weir::detail::process_memory;

namespace {

process_stats at(int n) {
    const auto times = [n](int k) { return static_cast<std::uint64_t>(n * k); };
    process_stats p;
    p.elapsed = n * 10s;
    p.processors = 2U;
    p.user_time = n * 12s;
    p.system_time = n * 3s;
    p.minor_faults = times(5);
    p.major_faults = times(1);
    p.voluntary_switches = times(7);
    p.involuntary_switches = times(2);
    p.bytes_read = times(1024);
    p.bytes_written = times(512);
    p.resident = times(100);
    p.peak_resident = times(200);
    return p;
}

}  // namespace

TEST_CASE("a process keeps as many processors busy as its time is of that which passed") {
    CHECK(at(1).busy() == 1.5);
    CHECK(at(1).busy_in_system() == 0.3);
    CHECK(process_stats().busy() == 0);
    process_stats early = at(1);
    early.elapsed = 0s;
    CHECK(early.busy() == 0);
}

TEST_CASE("a lap has the resources used meanwhile and the memory at its end") {
    process_stats lap = at(1);
    lap.resident = at(3).resident;
    lap.peak_resident = at(3).peak_resident;
    CHECK(at(3) - at(2) == lap);
}

TEST_CASE("nothing of a lap becomes negative") {
    const process_stats lap = at(1) - at(2);
    CHECK(lap.elapsed == 0s);
    CHECK(lap.user_time == 0ns);
    CHECK(lap.bytes_read == 0U);
}

TEST_CASE("a value that one of two snapshots lacks is empty in the lap, not 0") {
    process_stats before = at(1);
    process_stats after = at(2);
    before.bytes_read.reset();
    after.bytes_written.reset();
    CHECK_FALSE((after - before).bytes_read.has_value());
    CHECK_FALSE((after - before).bytes_written.has_value());
    CHECK((after - before).user_time == 12s);
}

namespace {

// A system that says what the test has set.
struct system_by_hand {
    using mutex = std::mutex;
    static inline std::int64_t clock = 0;
    static inline process_counts counts;
    static inline process_memory memory;
    static inline unsigned usable = 0;
    static std::int64_t now() noexcept { return clock; }
    static process_counts count_process() noexcept { return counts; }
    static process_memory measure_memory() noexcept { return memory; }
    static unsigned processors() noexcept { return usable; }

    static void reset() {
        clock = 1'000;
        counts = {100, 50, 10, 1, 20, 5, 8, 0};
        memory = {4096, 8192};
        usable = 2;
    }
};
using meter = weir::detail::basic_process_meter<system_by_hand>;

}  // namespace

TEST_CASE("a process is measured from the beginning of the run on") {
    system_by_hand::reset();
    meter m;
    CHECK_FALSE(m.stats().has_value());
    m.begin();
    system_by_hand::clock = 3'000;
    system_by_hand::counts = {1'100, 250, 13, 2, 27, 9, 11, 2};
    const auto s = m.stats();
    REQUIRE(s.has_value());
    CHECK(s->elapsed == 2us);
    CHECK(s->processors == 2U);
    CHECK(s->user_time == 1us);
    CHECK(s->system_time == 200ns);
    CHECK(s->minor_faults == 3U);
    CHECK(s->major_faults == 1U);
    CHECK(s->voluntary_switches == 7U);
    CHECK(s->involuntary_switches == 4U);
    CHECK(s->bytes_read == 3U * 512);
    CHECK(s->bytes_written == 2U * 512);
    CHECK(s->resident == 4096U);
    CHECK(s->peak_resident == 8192U);
}

TEST_CASE("what the process does after the end of the run changes nothing, also if none had asked before") {
    system_by_hand::reset();
    meter m;
    m.begin();
    system_by_hand::clock = 2'000;
    m.end();
    system_by_hand::clock = 9'000;
    system_by_hand::counts.user_time = 1'000'000;
    m.end();
    const auto s = m.stats();
    REQUIRE(s.has_value());
    CHECK(s->elapsed == 1us);
    CHECK(s->user_time == 0ns);
    system_by_hand::memory.resident = 12'288;
    CHECK(m.stats() == s);
}

TEST_CASE("the memory after the end is that of the end, if a snapshot was taken before") {
    system_by_hand::reset();
    meter m;
    m.begin();
    static_cast<void>(m.stats());
    system_by_hand::memory = {20'000, 40'000};
    m.end();
    system_by_hand::memory = {30'000, 60'000};
    const auto s = m.stats();
    REQUIRE(s.has_value());
    CHECK(s->resident == 20'000U);
    CHECK(s->peak_resident == 40'000U);
}

TEST_CASE("a value that the system doesn't report is empty, not 0") {
    system_by_hand::reset();
    system_by_hand::counts.blocks_read = -1;
    system_by_hand::memory.peak = -1;
    system_by_hand::usable = 0;
    meter m;
    m.begin();
    const auto s = m.stats();
    REQUIRE(s.has_value());
    CHECK_FALSE(s->bytes_read.has_value());
    CHECK(s->bytes_written == 0U);
    CHECK_FALSE(s->peak_resident.has_value());
    CHECK_FALSE(s->processors.has_value());
}

TEST_CASE("a value that the system reports only at one end of the run is empty") {
    const bool at_begin = GENERATE(true, false);
    system_by_hand::reset();
    const auto known = system_by_hand::counts;
    auto part = known;
    part.user_time = part.minor_faults = -1;
    system_by_hand::counts = at_begin ? known : part;
    meter m;
    m.begin();
    system_by_hand::counts = at_begin ? part : known;
    const auto s = m.stats();
    REQUIRE(s.has_value());
    CHECK_FALSE(s->user_time.has_value());
    CHECK_FALSE(s->minor_faults.has_value());
    CHECK(s->system_time == 0ns);
}

TEST_CASE("if the system reports nothing, there are no statistics") {
    system_by_hand::reset();
    system_by_hand::counts = {};
    system_by_hand::memory = {};
    meter m;
    m.begin();
    CHECK_FALSE(m.stats().has_value());
}
