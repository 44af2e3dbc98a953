#include <weir/report/live_view.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/for_each.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace std::chrono_literals;
using items::take_all;
using weir::pipeline_stats;
using weir::virtual_time;

namespace {

// Of which a lap takes as long as the test says.
struct clock_of_test {
    static inline std::int64_t time = 0;
    static std::int64_t now() noexcept { return time; }
};
using view = weir::detail::basic_live_view<clock_of_test>;

// What was written to one end.
std::string read_all(int file) {
    fcntl(file, F_SETFL, O_NONBLOCK);
    std::string all;
    char part[4096];
    for (ssize_t n = 0; (n = read(file, part, sizeof part)) > 0;)
        all.append(part, static_cast<std::size_t>(n));
    return all;
}

struct a_pipe {
    int ends[2]{};
    a_pipe() { REQUIRE(pipe(ends) == 0); }
    a_pipe(const a_pipe&) = delete;
    ~a_pipe() {
        close(ends[0]);
        close(ends[1]);
    }
};

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

pipeline_stats lap_of(std::uint64_t items) {
    pipeline_stats lap;
    lap.elapsed = 100ms;
    weir::stage_stats s;
    s.name = "act";
    s.elapsed = 100ms;
    s.num_tasks = items;
    s.slots = {{.run = 100ms}};
    lap.stages = {s};
    return lap;
}

std::size_t count(const std::string& text, std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
    return n;
}

}  // namespace

TEST_CASE("where there is no terminal, a line is written every few seconds, and one at the end") {
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
          "00:00  0 of 1000 (0 %)  0  act 100 % busy\n"
          "00:05  100 of 1000 (10 %)  20.0 /s  left 00:45  act 100 % busy\n"
          "00:10  200 of 1000  20.0 /s  done\n");
}

TEST_CASE("a terminal gets at most four pictures a second, each over the last one, as large as it is then") {
    unsetenv("NO_COLOR");        // NOLINT(concurrency-mt-unsafe)
    setenv("TERM", "xterm", 1);  // NOLINT(concurrency-mt-unsafe)
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
    CHECK(count(second, "stage") == 3);
    CHECK(count(second, "\x1b[4A\r") == 3);  // progress, heads, a stage, the legend
    CHECK(count(second, "38;5;33m") > 0);
    t.resize(40, 3);
    clock_of_test::time += 1'000'000'000;
    v.lap(lap_of(2));
    const std::string small = read_all(t.master);
    CHECK(small.find("\x1b[2A\r") == 0);  // no further up than there are rows
    CHECK(count(small, "\n") == 2);
    CHECK(small.ends_with("\x1b[J"));
    v.ends(lap_of(2), lap_of(24));
    CHECK(read_all(t.master).find("done") != std::string::npos);
}

TEST_CASE("NO_COLOR takes the colours away, and a dumb terminal gets lines") {
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
    CHECK(read_all(t.master) == "00:00  0  0  act 100 % busy\r\n");
    setenv("TERM", "xterm", 1);  // NOLINT(concurrency-mt-unsafe)
}

TEST_CASE("of a pipe that nobody reads one is warned, and the run goes on") {
    static std::string warned;
    warned.clear();
    const auto before =
        weir::set_report_warning([](std::string_view who, std::string_view) noexcept { warned += who; });
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    close(ends[0]);
    virtual_time time;
    const auto p = weir::source(std::views::iota(0, 5)) | weir::pipe([](int n) { return n; }) | weir::sink();
    const auto it = std::make_shared<weir::live_view>(weir::live_view_options{.file = ends[1]});
    CHECK(take_all(p.start(time, {.reports = {it}})).size() == 5);
    CHECK(warned == "the live view");
    weir::set_report_warning(before);
    close(ends[1]);
}

TEST_CASE("a run's own figures are counted: what its consumer took, or its last stage did") {
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
    CHECK(read_all(out.ends[0]).find("of 5  ") != std::string::npos);
    auto acts = (p | weir::for_each([](int) {})).start(time, {.reports = {it}});
    acts.wait();
    acts.stop();
    CHECK(read_all(out.ends[0]).find("00:00  5 of 5  100 /s  done\n") != std::string::npos);
}
