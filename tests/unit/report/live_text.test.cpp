#include <weir/report/live_text.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using weir::duration;
using weir::live_frame;
using weir::live_lines;
using weir::live_progress;
using weir::pipeline_stats;
using weir::slot_times;
using strings = std::vector<std::string>;

namespace {

weir::stage_stats stage(const std::string& name, slot_times times, std::size_t queue) {
    weir::stage_stats s;
    s.name = name;
    s.elapsed = 1s;
    s.num_tasks = 100;
    s.per_slot = {times};
    s.outputs = {queue};
    s.task_times.record(9ms, 99);
    s.task_times.record(20ms);
    return s;
}

pipeline_stats a_lap() {
    pipeline_stats lap;
    lap.elapsed = 1s;
    lap.stages = {stage("src", {.run = 100ms, .wait_put = 900ms}, 0),
                  stage("decode", {.wait_get = 50ms, .runnable = 50ms, .run = 400ms, .await = 500ms}, 1),
                  stage("sink", {.wait_get = 1s}, 2)};
    lap.stages[1].num_failures = 3;
    for (std::size_t i = 0; i < 3; ++i) {
        weir::channel_stats c;
        c.elapsed = 1s;
        c.size = i;
        c.capacity = 2;
        c.empty = duration(250ms) * static_cast<int>(i);
        lap.channels.push_back(c);
    }
    return lap;
}

live_progress half_way() { return {.elapsed = 83s, .done = 510, .total = 1000, .rate = 100, .failures = 3}; }

}  // namespace

TEST_CASE("a picture of 80 columns has all figures of a stage") {
    CHECK(live_lines(a_lap(), half_way(), {}) ==
          strings{
              "01:23  510 of 1000 (51 %)  100 /s  left 00:05  failed 3",
              "stage                                  rate ready   queue failed     p50     p99",
              "src    ###=======================    100 /s  100%     0/2      0  9.2 ms  9.2 ms",
              "decode ###########~~~~~~~~~~~~~!.    100 /s   75%     1/2      3  9.2 ms  9.2 ms",
              "sink   ..........................    100 /s   50%     2/2      0  9.2 ms  9.2 ms",
              "# run  ~ await  ! runnable  . get  = put  - turn  + overhead  _ off",
          });
}

TEST_CASE("a picture of 200 columns has longer bars") {
    CHECK(live_lines(a_lap(), half_way(), {200, 50}) ==
          strings{
              "01:23  510 of 1000 (51 %)  100 /s  left 00:05  failed 3",
              "stage                                                                    rate ready   queue "
              "failed "
              "    p50     p99",
              "src    ######======================================================    100 /s  100%     0/2   "
              "   0 "
              " 9.2 ms  9.2 ms",
              "decode ########################~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~!!!...    100 /s   75%     1/2   "
              "   3 "
              " 9.2 ms  9.2 ms",
              "sink   ............................................................    100 /s   50%     2/2   "
              "   0 "
              " 9.2 ms  9.2 ms",
              "# run  ~ await  ! runnable  . get  = put  - turn  + overhead  _ off",
          });
}

TEST_CASE("with too few columns or rows, columns on the right and the least busy stages are left out") {
    CHECK(live_lines(a_lap(), half_way(), {40, 10}) == strings{
                                                           "01:23  510 of 1000 (51 %)  100 /s",
                                                           "stage                         rate ready",
                                                           "src    ##===============    100 /s  100%",
                                                           "decode #######~~~~~~~~!.    100 /s   75%",
                                                           "sink   .................    100 /s   50%",
                                                           "# run  ~ await  ! runnable  . get  = put",
                                                       });
    CHECK(live_lines(a_lap(), half_way(), {20, 5}) == strings{
                                                          "01:23  510 of 1000",
                                                          "stage               ",
                                                          "deco~ #####~~~~~~~!.",
                                                          "... 2 more",
                                                          "# run  ~ await",
                                                      });
    CHECK(live_lines(a_lap(), half_way(), {20, 4}) == strings{
                                                          "01:23  510 of 1000",
                                                          "src   #=============",
                                                          "deco~ #####~~~~~~~!.",
                                                          "sink  ..............",
                                                      });
    CHECK(live_lines(a_lap(), half_way(), {2, 2}) == strings{"", " ~"});
    CHECK(live_lines(a_lap(), half_way(), {1, 2}) == strings{"", "~"});
    CHECK(live_lines(a_lap(), half_way(), {1, 1}) == strings{""});
    CHECK(live_lines(a_lap(), half_way(), {0, 0}).empty());
}

TEST_CASE("the rate of a sink, which has no tasks, is the rate at which items are taken from it") {
    pipeline_stats lap = a_lap();
    lap.stages[2].kind = "sink";
    lap.stages[2].num_tasks = 0;
    lap.channels[2].num_get = 7;
    CHECK(live_lines(lap, half_way(), {})[4].find("   7.0 /s ") != std::string::npos);
}

TEST_CASE("the picture of a run without stages shows its progress") {
    CHECK(live_lines({}, {}, {}) ==
          strings{
              "00:00  0",
              "stage                                  rate ready   queue failed     p50     p99",
              "# run  ~ await  ! runnable  . get  = put  - turn  + overhead  _ off",
          });
}

TEST_CASE("no picture is larger than its frame") {
    pipeline_stats lap = a_lap();
    lap.stages[1].name = "\xE8\xA7\xA3\xE7\xA0\x81 of \xE5\x9B\xBE";
    for (int i = 0; i < 40; ++i) lap.stages.push_back(stage("stage " + std::to_string(i), {.run = 1s}, 0));
    for (const std::size_t columns : {1U, 2U, 5U, 8U, 10U, 20U, 40U, 79U, 80U, 200U}) {
        for (const std::size_t rows : {1U, 2U, 3U, 5U, 10U, 24U, 50U}) {
            CAPTURE(columns, rows);
            const strings lines = live_lines(lap, half_way(), {columns, rows});
            CHECK(lines.size() == std::min<std::size_t>(rows, 46));
            for (const std::string& line : lines) CHECK(weir::detail::for_terminal(line).width <= columns);
        }
    }
}

TEST_CASE("with too few rows, the busiest stages are shown in order, and the number of the others") {
    pipeline_stats lap = a_lap();
    lap.stages.push_back(stage("last", {.off = 900ms, .run = 100ms}, 7));  // at work while it was there
    CHECK(live_lines(lap, half_way(), {80, 7}).back().starts_with("# run"));
    CHECK(live_lines(lap, half_way(), {80, 7})[5].starts_with("last   ###_____"));
    const strings lines = live_lines(lap, half_way(), {80, 6});
    REQUIRE(lines.size() == 6);
    CHECK(lines[2].starts_with("decode"));
    CHECK(lines[3].starts_with("last"));
    CHECK(lines[4] == "... 2 more, which are less busy");
    lap.stages.pop_back();
    CHECK(live_lines(lap, half_way(), {80, 5})[3] == "... 2 more, which are less busy");
    lap.stages.pop_back();
    CHECK(live_lines(lap, half_way(), {80, 5})[3].starts_with("decode"));
}

TEST_CASE("control characters in names do not move the cursor, and wide letters do not shift columns") {
    pipeline_stats lap = a_lap();
    lap.stages[0].name = "a\x1b[2Jb\n\xC3\xB6";
    lap.stages[2].name = "\xE8\xA7\xA3\xE7\xA0\x81";
    const strings lines = live_lines(lap, half_way(), {});
    CHECK(lines[2].starts_with("a?[2Jb?\xC3\xB6 #"));
    CHECK(lines[3].starts_with("decode   #"));
    CHECK(lines[4].starts_with("\xE8\xA7\xA3\xE7\xA0\x81     ."));
    CHECK(weir::live_line(lap, half_way()).find('\x1b') == std::string::npos);
    lap.stages[0].name = std::string(1000, 'n');
    CHECK(live_lines(lap, half_way(), {})[2].starts_with("nnnnnnnnnnnnnnnnnnn~ #"));
}

TEST_CASE("a bar has its length for all times, and the same characters with colours") {
    for (std::int64_t a = 0; a < 30; ++a) {
        for (std::int64_t b = 0; b < 30; ++b) {
            const slot_times t{.off = 1ns,
                               .wait_get = duration(a),
                               .run = duration(b),
                               .await = duration(a * b)};
            const std::string bar = weir::detail::live_bar(t, 17, false);
            CHECK(bar.size() == 17);
            std::string plain;
            bool escape = false;
            for (const char c : weir::detail::live_bar(t, 17, true)) {
                escape = escape || c == '\x1b';
                if (!escape) plain += c;
                if (c == 'm') escape = false;
            }
            CHECK(plain == bar);
        }
    }
    CHECK(weir::detail::live_bar({}, 4, true) == "    ");
}

TEST_CASE("the time left is shown only if it can be known") {
    using weir::detail::progress_text;
    CHECK(progress_text({}) == "00:00  0");
    CHECK(progress_text({.total = 10}) == "00:00  0 of 10 (0 %)");
    CHECK(progress_text({.elapsed = 1s, .done = 12, .total = 10, .rate = 12}) ==
          "00:01  12 of 10 (120 %)  12.0 /s");
    CHECK(progress_text({.elapsed = 3723s, .done = 1, .total = 10000, .rate = 1}) ==
          "1:02:03  1 of 10000 (<1 %)  1.0 /s  left 2:46:39");
    CHECK(progress_text({.elapsed = 999ms, .done = 1, .total = 10000, .rate = 1}) ==
          "00:00  1 of 10000 (<1 %)  1.0 /s");
    CHECK(progress_text({.elapsed = 1s, .done = 1, .total = UINT64_MAX, .rate = 1}) ==
          "00:01  1 of 18446744073709551615 (<1 %)  1.0 /s");
    CHECK(progress_text({.elapsed = 5s, .done = 10, .total = 10, .rate = 2, .ended = true}) ==
          "00:05  10 of 10  2.0 /s  done");
    CHECK(progress_text({.elapsed = 5s, .done = 9, .total = 10, .rate = 2, .failures = 1, .ended = true}) ==
          "00:05  9 of 10  2.0 /s  done  failed 1");
    CHECK(progress_text({.elapsed = 5s, .done = 5, .total = 10, .rate = 1, .ended = true}) ==
          "00:05  5 of 10  1.0 /s  stopped");
    CHECK(progress_text({.elapsed = 5s, .done = 5, .rate = 1, .ended = true}) == "00:05  5  1.0 /s  done");
    CHECK(progress_text({.elapsed = 5s, .done = 0, .total = 0}) == "00:05  0 of 0  0 /s");
}

TEST_CASE("if nothing has moved for long, the first line of a picture says so") {
    live_progress p = half_way();
    p.idle = 12s;
    CHECK(live_lines(a_lap(), p, {120, 24})[0] ==
          "01:23  510 of 1000 (51 %)  100 /s  left 00:05  failed 3  nothing has moved for 12.0 s");
    p.idle = 9s;
    CHECK(live_lines(a_lap(), p, {120, 24})[0] == "01:23  510 of 1000 (51 %)  100 /s  left 00:05  failed 3");
}

TEST_CASE("the line of a run shows its progress and the busiest stage") {
    CHECK(weir::live_line(a_lap(), half_way()) ==
          "01:23  510 of 1000 (51 %)  100 /s  left 00:05  failed 3  decode 90 % busy");
    CHECK(weir::live_line({}, {}) == "00:00  0");
}
