#include <weir/report/live_view.hpp>

#include "support/catch.hpp"
#include "support/explained_runs.hpp"
#include "support/items.hpp"
#include "support/pipe.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#if !defined(_WIN32)
#include <sys/ioctl.h>
#include <termios.h>
#endif

using namespace std::chrono_literals;
using items::take_all;
using pipes::read_all;
using weir::pipeline_stats;
using weir::virtual_time;

namespace {

// Of which a lap takes as long as the test says.
struct clock_of_test {
    using mutex = std::mutex;
    static inline std::int64_t time = 0;
    static std::int64_t now() noexcept { return time; }
};
using view = weir::detail::basic_live_view<clock_of_test>;
using weir::duration;
using weir::live_frame;
using weir::live_lines;
using weir::live_progress;
using weir::slot_times;
using strings = std::vector<std::string>;

struct a_pipe {
    int ends[2]{};
    a_pipe() { REQUIRE(pipes::open_pipe(ends)); }
    a_pipe(const a_pipe&) = delete;
    ~a_pipe() {
        close(ends[0]);
        close(ends[1]);
    }
};

#if !defined(_WIN32)
// A terminal, of which the test is the other side.
struct terminal {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    int slave = -1;
    terminal(unsigned short columns, unsigned short rows) {
        REQUIRE(master >= 0);
        REQUIRE(grantpt(master) == 0);
        REQUIRE(unlockpt(master) == 0);
        slave = open(ptsname(master), O_RDWR | O_NOCTTY);  // NOLINT(concurrency-mt-unsafe)
        REQUIRE(slave >= 0);
        resize(columns, rows);
    }
    terminal(const terminal&) = delete;
    ~terminal() {
        close(slave);
        close(master);
    }
    void resize(unsigned short columns, unsigned short rows) const {
        winsize size{};
        size.ws_col = columns;
        size.ws_row = rows;
        REQUIRE(ioctl(slave, TIOCSWINSZ, &size) == 0);
    }
};

// As a terminal's user has it who wants colours.
void use_terminal() {
    unsetenv("NO_COLOR");        // NOLINT(concurrency-mt-unsafe)
    setenv("TERM", "xterm", 1);  // NOLINT(concurrency-mt-unsafe)
}
#endif

pipeline_stats lap_of(std::uint64_t items) {
    pipeline_stats lap;
    lap.elapsed = 100ms;
    weir::stage_stats s;
    s.name = "act";
    s.elapsed = 100ms;
    s.num_tasks = items;
    s.per_slot = {{.run = 100ms}};
    lap.stages = {s};
    return lap;
}

}  // namespace

TEST_CASE("without a terminal, the view writes a line every few seconds, and one at the end") {
    const a_pipe out;
    clock_of_test::time = 0;
    view v({.total = 1000, .file = out.ends[1]});
    v.begins(lap_of(0));
    for (int i = 0; i < 99; ++i) {
        clock_of_test::time += 100'000'000;
        v.lap(lap_of(2));
    }
    v.ends(lap_of(2), lap_of(200));
    CHECK(read_all(out.ends[0]) ==
          "00:00  0 of 1000 (0 %)  act 100 % busy\n"
          "00:05  100 of 1000 (10 %)  20.0 /s  left 00:45  act 100 % busy\n"
          "00:10  200 of 1000  20.0 /s  done\n");
}

#if !defined(_WIN32)
namespace {

std::size_t count(const std::string& text, std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
    return n;
}

}  // namespace

TEST_CASE("lines that are as far apart as can be are only the first and the last one") {
    const a_pipe out;
    clock_of_test::time = 5'000'000'000;
    view v({.file = out.ends[1], .line_every = (weir::duration::max)()});
    v.begins(lap_of(0));
    for (int i = 0; i < 3; ++i) {
        clock_of_test::time += 100'000'000;
        v.lap(lap_of(1));
    }
    v.ends(lap_of(1), lap_of(4));
    CHECK(read_all(out.ends[0]) == "00:00  0  act 100 % busy\n00:00  4  10.0 /s  done\n");
}

TEST_CASE("a terminal gets at most four pictures per second, each over the last one, in its current size") {
    use_terminal();
    const terminal t(80, 24);
    clock_of_test::time = 0;
    view v({.file = t.slave});
    v.begins(lap_of(0));
    CHECK(count(read_all(t.master), "stage") == 1);
    for (int i = 0; i < 10; ++i) {
        clock_of_test::time += 100'000'000;
        v.lap(lap_of(2));
    }
    const std::string second = read_all(t.master);
    CHECK(count(second, "stage") == 4);
    CHECK(count(second, "\x1b[4A\r") == 4);  // progress, heads, a stage, the legend
    CHECK(count(second, "38;5;33m") > 0);
    t.resize(40, 3);
    clock_of_test::time += 1'000'000'000;
    v.lap(lap_of(2));
    const std::string small = read_all(t.master);
    CHECK(small.starts_with("\x1b[2A\r"));  // no further up than there are rows
    CHECK(count(small, "\n") == 2);
    CHECK(small.ends_with("\x1b[J"));
    v.ends(lap_of(2), lap_of(24));
    CHECK(read_all(t.master).find("done") != std::string::npos);
}

TEST_CASE("NO_COLOR turns colours off, and a dumb terminal gets lines") {
    const terminal t(80, 24);
    setenv("NO_COLOR", "1", 1);  // NOLINT(concurrency-mt-unsafe)
    view plain({.file = t.slave});
    plain.begins(lap_of(0));
    const std::string text = read_all(t.master);
    CHECK(text.find("38;5") == std::string::npos);
    CHECK(text.find("# run") != std::string::npos);
    unsetenv("NO_COLOR");       // NOLINT(concurrency-mt-unsafe)
    setenv("TERM", "dumb", 1);  // NOLINT(concurrency-mt-unsafe)
    view dumb({.file = t.slave});
    dumb.begins(lap_of(0));
    CHECK(read_all(t.master) == "00:00  0  act 100 % busy\r\n");
    unsetenv("TERM");  // NOLINT(concurrency-mt-unsafe)
    view unknown({.file = t.slave});
    unknown.begins(lap_of(0));
    CHECK(read_all(t.master) == "00:00  0  act 100 % busy\r\n");
}

TEST_CASE("laps as long as the time between pictures all get a picture, also if they come late") {
    use_terminal();
    const terminal t(80, 24);
    clock_of_test::time = 5;
    view v({.file = t.slave});
    v.begins(lap_of(0));
    for (std::int64_t i = 1; i <= 20; ++i) {
        clock_of_test::time = 5 + i * 250'000'000 + (i % 3) * 1'000'000;
        static_cast<void>(read_all(t.master));
        v.lap(lap_of(2));
        CHECK(count(read_all(t.master), "stage") == 1);
    }
    clock_of_test::time += 60'000'000'000;  // a lap that took a minute
    v.lap(lap_of(2));
    v.lap(lap_of(2));
    CHECK(count(read_all(t.master), "stage") == 1);
}

TEST_CASE(
    "a picture overwrites the last one, clears the rest of each line, and leaves the last column free") {
    use_terminal();
    setenv("NO_COLOR", "1", 1);  // NOLINT(concurrency-mt-unsafe)
    const terminal t(21, 24);
    clock_of_test::time = 0;
    view v({.file = t.slave});
    v.begins(lap_of(0));
    const std::string first = read_all(t.master);
    CHECK(first ==
          "00:00  0\x1b[K\r\n"
          "stage               \x1b[K\r\n"
          "act   ##############\x1b[K\r\n"
          "# run  ~ await\x1b[K\r\n"
          "\x1b[J");
    v.ends(lap_of(3), lap_of(3));
    CHECK(read_all(t.master) ==
          "\x1b[4A\r"
          "00:00  3  30.0 /s\x1b[K\r\n"
          "stage               \x1b[K\r\n"
          "act   ##############\x1b[K\r\n"
          "# run  ~ await\x1b[K\r\n"
          "\x1b[J");
    v.begins(lap_of(0));  // another run: below
    CHECK(read_all(t.master) == first);
}

TEST_CASE("printed text stands above the picture, or in its place if there is none") {
    use_terminal();
    setenv("NO_COLOR", "1", 1);  // NOLINT(concurrency-mt-unsafe)
    const terminal t(21, 24);
    view v({.file = t.slave});
    CHECK(v.print("before"));
    CHECK(read_all(t.master) == "before\r\n");
    v.begins(lap_of(0));
    static_cast<void>(read_all(t.master));
    v.print("one\ntwo\n");
    CHECK(read_all(t.master) ==
          "\x1b[4A\r\x1b[Jone\r\ntwo\r\n"
          "00:00  0\r\n"
          "stage               \r\n"
          "act   ##############\r\n"
          "# run  ~ await\r\n");
    const a_pipe out;
    view lines({.file = out.ends[1]});
    lines.print("one");
    CHECK(read_all(out.ends[0]) == "one\n");
}

TEST_CASE("the view does not wait for a stopped terminal or a full pipe") {
    use_terminal();
    const a_pipe out;
    fcntl(out.ends[1], F_SETFL, O_NONBLOCK);
    const std::string much(4096, '.');
    while (write(out.ends[1], much.data(), much.size()) > 0) {
    }
    fcntl(out.ends[1], F_SETFL, 0);
    view lines({.file = out.ends[1], .line_every = 1ns});
    clock_of_test::time = 1'000'000'000;
    lines.lap(lap_of(1));  // comes back
    CHECK(read_all(out.ends[0]).find_first_not_of('.') == std::string::npos);
    lines.lap(lap_of(1));
    CHECK(read_all(out.ends[0]).starts_with("00:00  2  10.0 /s"));

    const terminal t(80, 24);
    view v({.file = t.slave});
    v.begins(lap_of(0));
    static_cast<void>(read_all(t.master));
    REQUIRE(tcflow(t.slave, TCOOFF) == 0);
    clock_of_test::time += 1'000'000'000;
    v.lap(lap_of(1));
    CHECK(read_all(t.master).empty());
    REQUIRE(tcflow(t.slave, TCOON) == 0);
    v.lap(lap_of(1));
    CHECK(read_all(t.master).find("00:00  2") != std::string::npos);
    REQUIRE(tcflow(t.slave, TCOOFF) == 0);
    v.ends(lap_of(1), lap_of(3));  // comes back
    CHECK(read_all(t.master).empty());
}
#endif

TEST_CASE("the items of a named stage are counted, and an unknown name gives a warning") {
    const a_pipe out;
    view v({.total = 100, .counted = "act", .file = out.ends[1]});
    pipeline_stats lap = lap_of(40);
    lap.stages[0].num_failures = 4;
    lap.stages.push_back(lap.stages[0]);
    lap.stages[1].name = "batch";
    lap.stages[1].num_tasks = 4;
    lap.stages[1].num_failures = 0;
    v.begins(lap);
    static_cast<void>(read_all(out.ends[0]));
    v.ends(lap, lap);
    CHECK(read_all(out.ends[0]) == "00:00  40 of 100  400 /s  done  failed 4\n");
    view none({.counted = "\x1b[2J", .file = out.ends[1]});
    CHECK_THROWS_WITH(none.begins(lap), "weir: live_view_options::counted is no stage of this run: ?[2J");
}

TEST_CASE("the items of a sink are those that reach its queue, also if the sink is named") {
    const a_pipe out;
    view v({.total = 100, .counted = "sink", .file = out.ends[1]});
    pipeline_stats lap = lap_of(40);
    lap.stages.push_back({});
    lap.stages[1].name = lap.stages[1].kind = "sink";
    lap.stages[1].inputs = {0};
    lap.channels.resize(1);
    lap.channels[0].num_put = 36;
    v.begins(lap);
    static_cast<void>(read_all(out.ends[0]));
    v.ends(lap, lap);
    CHECK(read_all(out.ends[0]).starts_with("00:00  36 of 100  360 /s"));
}

TEST_CASE("the recent rate is the average at first, and forgets later") {
    weir::detail::recent_rate rate;
    CHECK(rate.per_second() == 0);
    rate.add(0, 0s);
    CHECK(rate.per_second() == 0);
    rate.add(1, 1s);
    rate.add(99, 1s);
    CHECK(rate.per_second() > 49);
    CHECK(rate.per_second() < 60);
    for (int i = 0; i < 100; ++i) rate.add(10, 1s);
    CHECK(rate.per_second() > 9.9);
    CHECK(rate.per_second() < 10.1);
    rate.add(0, 1h);  // stands still
    CHECK(rate.per_second() < 0.01);
}

TEST_CASE("a view on a pipe that nobody reads gives a warning, and the run goes on") {
    static std::string warned;
    warned.clear();
    const auto before =
        weir::set_report_warning([](std::string_view who, std::string_view) noexcept { warned += who; });
    int ends[2];
    REQUIRE(pipes::open_pipe(ends));
    close(ends[0]);
    virtual_time time;
    const auto p = weir::source(std::views::iota(0, 5)) | weir::pipe([](int n) { return n; }) | weir::sink();
    const auto it = std::make_shared<weir::live_view>(weir::live_view_options{.file = ends[1]});
    CHECK(take_all(p.start(time, {.reports = {it}})).size() == 5);
    CHECK(warned == "the live view");
    weir::set_report_warning(before);
    CHECK_FALSE(it->print("to nobody"));
    close(ends[1]);
}

TEST_CASE("the last line says if the run failed or was stopped, and counts all items of a slow consumer") {
    virtual_time time;
    const auto lines_of = [&time](auto pipeline, auto consume) {
        const a_pipe out;
        const auto it =
            std::make_shared<weir::live_view>(weir::live_view_options{.total = 4, .file = out.ends[1]});
        auto run = pipeline.start(time, {.lap = 1s, .reports = {it}});
        consume(run);
        run.stop();
        return read_all(out.ends[0]);
    };
    const auto takes_long = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(10s);
        if (n == 2) throw std::runtime_error("unreadable");
        co_return n;
    };
    const auto list = weir::source(std::views::iota(0, 4));
    const auto one = [](auto& run) { CHECK(run.get().has_value()); };
    const auto all = [](auto& run) {
        while (run.get()) {
        }
    };
    const auto all_there_are = [&all](auto& run) { CHECK_THROWS_AS(all(run), weir::pipeline_failure); };
    CHECK(lines_of(list | weir::pipe(takes_long, {.name = "fails"}) | weir::sink(), all_there_are) ==
          "00:00  0 of 4 (0 %)\n"
          "00:30  2 of 4  0.07 /s  failed in 'fails'  failed 1\n");
    CHECK(lines_of(list | weir::pipe(takes_long) | weir::sink(), one) ==
          "00:00  0 of 4 (0 %)\n"
          "00:10  1 of 4  0.10 /s  stopped\n");
    const auto slowly = [&](auto& run) {
        while (run.get()) time.run_until(time.now() + 1s);
    };
    CHECK(lines_of(list | weir::sink(1), slowly) ==
          "00:00  0 of 4 (0 %)\n"
          "00:00  4 of 4  done\n");
}

TEST_CASE("the view counts the items that the consumer took, or that the last stage finished") {
    const a_pipe out;
    virtual_time time;
    const auto sleeps = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(10ms);
        co_return n;
    };
    const auto it =
        std::make_shared<weir::live_view>(weir::live_view_options{.total = 5, .file = out.ends[1]});
    const auto p = weir::source(std::views::iota(0, 5)) | weir::pipe(sleeps);
    CHECK(take_all((p | weir::sink()).start(time, {.reports = {it}})).size() == 5);
    CHECK(read_all(out.ends[0]).find("00:00  5 of 5  100 /s  done\n") != std::string::npos);
    auto acts = (p | weir::for_each([](int) {})).start(time, {.reports = {it}});
    acts.wait();
    acts.stop();
    CHECK(read_all(out.ends[0]).find("00:00  5 of 5  100 /s  done\n") != std::string::npos);
}

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

TEST_CASE("the last line says where a run failed, or that it was stopped, also without a total") {
    virtual_time time;
    const auto fails = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(1s);
        if (n == 2) throw std::runtime_error("unreadable");
        co_return n;
    };
    const auto last_of = [&](weir::run_options options, bool consumes) {
        const a_pipe out;
        options.lap = 10s;
        options.reports = {std::make_shared<weir::live_view>(weir::live_view_options{.file = out.ends[1]})};
        auto run = (weir::source(std::views::iota(0, 20)) | weir::pipe(fails, {.name = "de\x1b[1mcode"}) |
                    weir::sink(20))
                       .start(time, std::move(options));
        try {
            while (consumes && run.get()) {
            }
        } catch (const weir::pipeline_failure&) {
        }
        run.stop();
        const std::string text = read_all(out.ends[0]);
        const std::string last = text.substr(text.rfind("\n00:") + 1);
        const std::size_t rate = last.find(" /s  ");
        return last.substr(rate == std::string::npos ? 0 : rate + 5);
    };
    CHECK(last_of({}, true) == "failed in 'de?[1mcode'  failed 1\n");
    CHECK(last_of({.max_failures = 1}, true) == "done  failed 1\n");
    const auto throws = [](const weir::pipeline_stats&) { throw std::runtime_error("no disk"); };
    CHECK(last_of({.max_failures = 1, .on_lap = throws}, true) == "failed in 'on_lap'  failed 1\n");
    CHECK(last_of({}, false) == "00:00  0  stopped\n");
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
          "00:05  5 of 10  1.0 /s  done");  // as many came out as there were
    CHECK(progress_text({.elapsed = 5s, .done = 5, .rate = 1, .ended = true}) == "00:05  5  1.0 /s  done");
    weir::live_progress stopped{.elapsed = 5s, .done = 8, .total = 10, .rate = 1, .failures = 3};
    stopped.ended = true;
    stopped.how = weir::run_outcome::stopped;
    CHECK(progress_text(stopped) == "00:05  8 of 10  1.0 /s  stopped  failed 3");
    stopped.done = 10;
    CHECK(progress_text(stopped) == "00:05  10 of 10  1.0 /s  done  failed 3");
    const live_progress failed{.elapsed = 5s,
                               .done = 5,
                               .rate = 1,
                               .failures = 2,
                               .ended = true,
                               .how = weir::run_outcome::failed,
                               .failed_stage = "a"};
    CHECK(progress_text(failed) == "00:05  5  1.0 /s  failed in 'a'  failed 2");
    CHECK(progress_text(failed, 24) == "00:05  5  1.0 /s  failed");
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

TEST_CASE("the verdict is the first sentence of a picture, in as many lines as there is room for") {
    live_progress p = half_way();
    p.verdict = "stage 'slow' is the bottleneck:\n it awaits 100 % of the time";
    const strings wide = live_lines(a_lap(), p, {80, 24});
    CHECK(wide.size() == 7);
    CHECK(wide[1] == "stage 'slow' is the bottleneck:? it awaits 100 % of the time");
    CHECK(wide[2].starts_with("stage   "));
    const strings narrow = live_lines(a_lap(), p, {30, 9});
    CHECK(narrow.size() == 9);
    CHECK(narrow[1] == "stage 'slow' is the");
    CHECK(narrow[2] == "bottleneck:? it awaits 100 %");
    CHECK(narrow[3] == "of the time");
    const strings low = live_lines(a_lap(), p, {30, 8});
    CHECK(low.size() == 7);
    CHECK(low[1] == "stage 'slow' is the bottlenec~");
    CHECK(low[2].starts_with("stage   "));
    CHECK(live_lines(a_lap(), p, {30, 5}) == live_lines(a_lap(), half_way(), {30, 5}));
    for (std::size_t rows = 0; rows < 12; ++rows) CHECK(live_lines(a_lap(), p, {30, rows}).size() <= rows);
}

TEST_CASE("the verdict ends the line of a run") {
    live_progress p = half_way();
    p.verdict = "stage 'slow' is the bottleneck";
    CHECK(weir::live_line(a_lap(), p) ==
          "01:23  510 of 1000 (51 %)  100 /s  left 00:05  failed 3  decode 90 % busy; "
          "stage 'slow' is the bottleneck");
    p.ended = true;
    CHECK(weir::live_line(a_lap(), p) ==
          "01:23  510 of 1000  100 /s  done  failed 3; stage 'slow' is the bottleneck");
}

TEST_CASE("a view has the verdict of recent laps, and at the end that of the run") {
    const a_pipe out;
    clock_of_test::time = 0;
    view v({.file = out.ends[1]});
    const pipeline_stats first = explained_runs::limited_by("slow", 2'000);
    const pipeline_stats all = explained_runs::limited_by("other", 2'000);
    v.begins(first - first);
    clock_of_test::time += 5'000'000'000;
    v.lap(first);
    v.ends(all - all, all);
    v.begins(first - first);
    CHECK(read_all(out.ends[0]) ==
          "00:00  0\n"
          "00:10  2000  200 /s  slow 100 % busy; " +
              explained_runs::sentence +
              "\n"
              "00:10  2000  200 /s  done; stage 'other' is the bottleneck: it awaits 100 % of the time; "
              "other: 4 "
              "slots instead of 2 would bring 100 % more (sure: 100 %)\n"
              "00:00  0\n");
}

TEST_CASE("the line of a run shows its progress and the busiest stage") {
    CHECK(weir::live_line(a_lap(), half_way()) ==
          "01:23  510 of 1000 (51 %)  100 /s  left 00:05  failed 3  decode 90 % busy");
    CHECK(weir::live_line({}, {}) == "00:00  0");
}
