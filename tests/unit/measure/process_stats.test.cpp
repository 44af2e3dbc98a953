#include <weir/measure/process_stats.hpp>

#include "support/catch.hpp"

#include <chrono>

using weir::process_stats;
using namespace std::chrono_literals;

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
