#include <weir/run/run_report.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"
#include "support/pipe.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::pipeline_stats;
using weir::run_options;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

using strings = std::vector<std::string>;

// Writes down what it hears; fails where it is told to.
struct listener final : weir::run_report {
    strings heard;
    std::string fails_at;
    void hear(const std::string& what) {
        heard.push_back(what);
        if (what == fails_at) throw std::runtime_error("disk full");
    }
    std::string name() const override { return "run.csv"; }
    void begins(const pipeline_stats& all) override {
        CHECK(all.elapsed == 0ns);
        std::string names;
        for (const auto& s : all.stages) {
            CHECK(s.elapsed == 0ns);
            CHECK(s.times() == weir::slot_times());
            names += s.name + ",";
        }
        for (const auto& c : all.channels) {
            CHECK(c.elapsed == 0ns);
            CHECK(c.empty == 0ns);
            CHECK(c.capacity > 0);
        }
        hear("begins " + names);
    }
    void lap(const pipeline_stats& one) override { hear("lap " + std::to_string(one.elapsed / 1ms)); }
    void failed(const weir::failure& what) override { hear("failed " + what.message()); }
    void ends(const pipeline_stats& rest, const pipeline_stats& all) override {
        hear("ends " + std::to_string(rest.elapsed / 1ms) + " of " + std::to_string(all.elapsed / 1ms));
    }
};

struct counter final : weir::run_report {
    struct at_each final : weir::hook {
        std::atomic<int> calls = 0;
        void before(const weir::invocation&) override { ++calls; }
    };
    std::shared_ptr<at_each> calls = std::make_shared<at_each>();
    std::shared_ptr<weir::hook> around_invocations() override { return calls; }
};

auto slow() {
    const auto half_fail = [](int n) -> task<int> {
        co_await weir::sleep_for(10ms);
        if (n == 2) throw std::runtime_error("two");
        co_return n;
    };
    return weir::source(std::views::iota(0, 5)) | weir::pipe(half_fail, {.name = "p"}) | weir::sink();
}

std::string warned;
struct warnings {
    weir::report_warning before =
        weir::set_report_warning([](std::string_view who, std::string_view why) noexcept {
            warned += std::string(who) + ": " + std::string(why) + ";";
        });
    warnings() { warned.clear(); }
    warnings(const warnings&) = delete;
    ~warnings() { weir::set_report_warning(before); }
};

}  // namespace

TEST_CASE(
    "a report is called for the begin, laps, failures and end, before the functions of the run's options") {
    virtual_time time;
    const auto one = std::make_shared<listener>();
    const auto two = std::make_shared<listener>();
    run_options o{.max_failures = 1, .lap = 20ms, .reports = {one, two}};
    strings own;
    o.on_lap = [&](const pipeline_stats&) { own.push_back(two->heard.back()); };
    o.on_failure = [&](const weir::failure&) { own.push_back(two->heard.back()); };
    o.on_end = [&](const pipeline_stats&, const pipeline_stats&) { own.push_back(two->heard.back()); };
    CHECK(take_all(slow().start(time, o)).size() == 4);
    CHECK(one->heard == strings{"begins src,p,sink,", "lap 20", "failed two", "lap 20", "ends 10 of 50"});
    CHECK(two->heard == one->heard);
    CHECK(own == strings(one->heard.begin() + 1, one->heard.end()));
}

TEST_CASE("the warning of a report whose name throws still says what failed") {
    struct nameless final : weir::run_report {
        std::string name() const override { throw std::runtime_error("no name"); }
        void begins(const pipeline_stats&) override { throw std::runtime_error("disk full"); }
    };
    const warnings heard;
    virtual_time time;
    CHECK(
        take_all(slow().start(time, {.max_failures = 1, .reports = {std::make_shared<nameless>()}})).size() ==
        4);
    CHECK(warned == "a report: disk full;");
}

TEST_CASE("at the begin of a run nothing is measured yet, whatever the clock says") {
    virtual_time time;
    for (int i = 0; i < 2; ++i) {  // the clock of the second one has 50 ms
        const auto one = std::make_shared<listener>();
        CHECK(take_all(slow().start(time, {.max_failures = 1, .reports = {one}})).size() == 4);
        CHECK(one->heard.at(0) == "begins src,p,sink,");  // and what it checks of that
    }
}

TEST_CASE("the warning about a report is a line on stderr, and raises no signal if stderr is a closed pipe") {
    const int real = dup(2);
    int ends[2];
    REQUIRE(pipes::open_pipe(ends));
    dup2(ends[1], 2);
    weir::detail::print_report_warning("run.csv", "No space left on device");
    weir::detail::print_report_warning(std::string(5000, 'n'), std::string(5000, 'w'));
    char seen[2000];
    const auto size = read(ends[0], seen, sizeof seen);
    close(ends[0]);
    weir::detail::print_report_warning("run.csv", "No space left on device");
    dup2(real, 2);
    close(real);
    close(ends[1]);
    REQUIRE(size > 0);
    const std::string text(seen, static_cast<std::size_t>(size));
    CHECK(text ==
          "weir: run.csv is no longer written, as this failed: No space left on device; the run goes on\n"
          "weir: " +
              std::string(400, 'n') + " is no longer written, as this failed: " + std::string(400, 'w') +
              "; the run goes on\n");
}

TEST_CASE("begins of a report changes no figure") {
    virtual_time time;
    const auto figures = [&time](run_options o) {
        o.max_failures = 1;
        auto run = slow().start(time, o);
        for (int each : run) static_cast<void>(each);
        run.stop();
        return run.stats();
    };
    const pipeline_stats without = figures({});
    const pipeline_stats with = figures({.reports = {std::make_shared<listener>()}});
    CHECK(with.stages == without.stages);
    CHECK(with.channels == without.channels);
}

TEST_CASE("where there are reports, a lap without a length is one of a second") {
    virtual_time time;
    const auto one = std::make_shared<listener>();
    const auto sleeps = [](int n) -> task<int> {
        co_await weir::sleep_for(600ms);
        co_return n;
    };
    const auto p = weir::source({1, 2}) | weir::pipe(sleeps) | weir::sink();
    CHECK(take_all(p.start(time, {.reports = {one}})).size() == 2);
    CHECK(one->heard.at(1) == "lap 1000");
    CHECK(one->heard.at(2) == "ends 200 of 1200");
}

TEST_CASE("of a report that fails one is warned once, the others hear on, and the run ends as it would") {
    for (const char* at : {"begins src,p,sink,", "lap 20", "failed two", "ends 10 of 50"}) {
        CAPTURE(at);
        const warnings here;
        virtual_time time;
        const auto bad = std::make_shared<listener>();
        const auto good = std::make_shared<listener>();
        bad->fails_at = at;
        CHECK(take_all(slow().start(time, {.max_failures = 1, .lap = 20ms, .reports = {bad, good}})).size() ==
              4);
        CHECK(warned == "run.csv: disk full;");
        CHECK(bad->heard.back() == at);
        CHECK(good->heard.size() == 5);
    }
}

TEST_CASE("the warning about a report has the text and the type of the exception") {
    struct thrower final : weir::run_report {
        std::string name() const override { return "r"; }
        void begins(const pipeline_stats&) override { throw 42; }
    };
    const warnings here;
    virtual_time time;
    CHECK(
        take_all(slow().start(time, {.max_failures = 1, .reports = {std::make_shared<thrower>()}})).size() ==
        4);
    CHECK(warned == "r: 42 (thrown as int);");
}

TEST_CASE("that reports hear of a failure doesn't keep it from the consumer") {
    virtual_time time;
    const auto one = std::make_shared<listener>();
    CHECK(take_until_failure(slow().start(time, {.reports = {one}})).failed != nullptr);
    CHECK(one->heard == strings{"begins src,p,sink,", "failed two", "ends 30 of 30"});
}

TEST_CASE("the hook of a report is called around invocations, on a pool too") {
    weir::thread_pool pool(2);
    const auto one = std::make_shared<counter>();
    const auto p = weir::source(std::views::iota(0, 100)) |
                   weir::pipe([](int n) { return n; }, {.concurrency = 3}) | weir::sink();
    CHECK(take_all(p.start(pool, {.reports = {one}})).size() == 100);
    CHECK(one->calls->calls >= 200);  // of the source, too
}

TEST_CASE("a report that is null is refused") {
    virtual_time time;
    CHECK_THROWS_AS(slow().start(time, {.reports = {nullptr}}), std::invalid_argument);
}

namespace {

class watched final : public weir::detail::watched_run {
  public:
    ~watched() { leave_registry(); }
    void inspect(weir::detail::run_seen& seen, bool states) const override { seen.has_failed = states; }
    weir::pipeline_stats stats() const override { return {}; }
};

}  // namespace

TEST_CASE("a run is found among runs, and not among places") {
    weir::detail::registry r;
    watched run;
    r.add(run);
    int runs = 0;
    r.each<weir::detail::watched_run>([&runs](const weir::detail::watched_run& each) {
        weir::detail::run_seen seen;
        each.inspect(seen, true);
        if (seen.has_failed) ++runs;
    });
    CHECK(runs == 1);
    r.each<weir::detail::wait_site>([&runs](const weir::detail::wait_site&) { ++runs; });
    CHECK(runs == 1);
}

TEST_CASE("the figures of a stage begin at 0") {
    const weir::detail::stage_figures f;
    CHECK(f.given + f.taken + f.results + f.num_tasks + f.num_failures == 0);
    CHECK(f.times.total() == weir::duration(0));
}
