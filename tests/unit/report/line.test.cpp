#include <weir/report/line.hpp>

#include "support/catch.hpp"
#include "unit/report/german.hpp"

#include <chrono>
#include <iomanip>
#include <sstream>
#include <string>

using weir::channel_stats;
using weir::histogram;
using weir::line_text;
using weir::process_stats;
using weir::slot_times;
using weir::stage_stats;
using namespace std::chrono_literals;

TEST_CASE("the line of a histogram has what it knows") {
    histogram h;
    CHECK(line_text(h) == "0 times");
    h.record(4ms);
    CHECK(line_text(h) == "1 time, ave 4.0 ms, p50 4.0 ms, p99 4.0 ms, max 4.0 ms");
    CHECK(line_text(histogram::without_quantiles(2, 10ms, 7ms)) == "2 times, ave 5.0 ms, max 7.0 ms");
}

TEST_CASE("the times of a slot, a stage and a queue have lines") {
    slot_times t;
    t.run = 2s;
    t.await = 3ms;
    t.wait_turn = 4us;
    const std::string times =
        "run 2.0 s, await 3.0 ms, runnable 0, wait_get 0, wait_put 0, wait_turn 4.0 us, overhead 0, off 0";
    CHECK(line_text(t) == times);

    stage_stats s;
    s.name = "decode";
    s.concurrency = 3;
    s.elapsed = 10s;
    s.num_tasks = 21;
    s.num_failures = 1;
    s.task_time = 20ms;
    s.failure_time = 80ms;
    s.per_slot = {t};
    CHECK(line_text(s) == "decode[3]: 21 tasks, 1 failed after 80.0 ms, 2.1 /s, ave 1.0 ms; " + times);
    s.concurrency = 1;
    s.num_tasks = 1;
    s.num_failures = 0;
    CHECK(line_text(s) == "decode: 1 task, 0 failed, 0.10 /s, ave 20.0 ms; " + times);

    channel_stats c;
    c.name = "decode";
    c.size = 2;
    c.capacity = 8;
    c.elapsed = 10s;
    c.num_put = 22;
    c.num_get = 20;
    c.put_wait = 22ms;
    c.get_blocked = 40ms;
    c.empty = 1s;
    CHECK(line_text(c) ==
          "decode_queue: 2 of 8 in it, 20 taken, 2.0 /s, put wait 1.0 ms, get wait 2.0 ms, "
          "readiness 90.0 %");
    c.num_discarded = 2;
    CHECK(line_text(c).find("20 taken, 2 discarded, 2.0 /s") != std::string::npos);
}

TEST_CASE("the line of a process has what the system tells") {
    process_stats p;
    CHECK(line_text(p).empty());
    p.resident = 212'000'000U;
    CHECK(line_text(p) == "212 MB resident");
    p.elapsed = 10s;
    p.user_time = 17s;
    p.system_time = 1s;
    p.voluntary_switches = 9'000U;
    p.involuntary_switches = 3'000U;
    p.major_faults = 0U;
    p.bytes_read = 1'200'000'000U;
    p.bytes_written = 0U;
    CHECK(line_text(p) ==
          "1.8 processors busy, 0.1 in the system; 212 MB resident; 12.0 k context switches, 3000 of them "
          "forced; read 1.2 GB, written 0 B");
    p.processors = 2U;
    p.major_faults = 7U;
    p.system_time.reset();
    p.involuntary_switches.reset();
    p.bytes_read.reset();
    CHECK(line_text(p) ==
          "1.7 of 2 processors busy; 212 MB resident; 7 page faults from storage; written 0 B");
}

TEST_CASE("a line is the same for every locale and flag of the stream") {
    histogram h;
    h.record(4ms, 1000);
    const weir_test::german_locale here;
    std::ostringstream out;
    out << std::setw(90) << std::setfill('*') << std::hex << h;
    CHECK(out.str() == line_text(h));
}
