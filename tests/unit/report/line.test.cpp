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
using weir::slot_times;
using weir::stage_stats;
using namespace std::chrono_literals;

TEST_CASE("a histogram is a line of what it knows") {
    histogram h;
    CHECK(line_text(h) == "0 times");
    h.record(4ms);
    CHECK(line_text(h) == "1 time, ave 4.0 ms, p50 4.0 ms, p99 4.0 ms, max 4.0 ms");
    CHECK(line_text(histogram::without_quantiles(2, 10ms, 7ms)) == "2 times, ave 5.0 ms, max 7.0 ms");
}

TEST_CASE("a slot's times, a stage and a queue are a line each") {
    slot_times t;
    t.run = 2s;
    t.await = 3ms;
    t.wait_turn = 4us;
    const std::string times =
        "run 2.0 s, await 3.0 ms, runnable 0, wait_get 0, wait_put 0, wait_turn 4.0 us, off 0";
    CHECK(line_text(t) == times);

    stage_stats s;
    s.name = "decode";
    s.concurrency = 3;
    s.elapsed = 10s;
    s.num_tasks = 21;
    s.num_failures = 1;
    s.task_time = 20ms;
    s.slots = {t};
    CHECK(line_text(s) == "decode[3]: 21 tasks, 1 failed, 2.1 /s, ave 1.0 ms; " + times);
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
}

TEST_CASE("a stream gets the same line, whatever its locale and flags are") {
    histogram h;
    h.record(4ms, 1000);
    const weir_test::german_locale here;
    std::ostringstream out;
    out << std::setw(90) << std::setfill('*') << std::hex << h;
    CHECK(out.str() == line_text(h));
}
