#include <weir/report/metrics_report.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using items::take_all;
using weir::metrics_callback;
using weir::metrics_file;
using weir::metrics_format;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

// A folder that is gone with the test.
struct folder {
    fs::path path = fs::temp_directory_path() / "weir metrics_report test";
    folder() {
        fs::remove_all(path);
        fs::create_directories(path);
    }
    folder(const folder&) = delete;
    ~folder() { fs::remove_all(path); }
    std::string operator/(const char* name) const { return (path / name).string(); }
};

std::string text_of(const std::string& path) {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
}

// 10 ms an item.
auto loader() {
    const auto decode = [](int i) -> task<int> {
        co_await weir::sleep_for(10ms);
        co_return i;
    };
    return weir::source(std::views::iota(0, 5)) | weir::pipe(decode, {.name = "decode"}) | weir::sink();
}

std::string tasks(const std::string& text) {
    const std::string sample = "\nweir_stage_tasks_total{stage=\"decode\",position=\"1\",kind=\"pipe\"} ";
    const auto at = text.find(sample);
    if (at == std::string::npos) return "none";
    return text.substr(at + sample.size(), text.find('\n', at + 1) - at - sample.size());
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

TEST_CASE("counters count from the run's start, at its begin, at each lap and at its end") {
    virtual_time time;
    std::vector<std::string> texts;
    const auto metrics =
        std::make_shared<metrics_callback>([&](const std::string& text) { texts.push_back(text); });
    auto run = loader().start(time, {.lap = 20ms, .reports = {metrics}});
    for (int i : run) static_cast<void>(i);
    run.stop();
    REQUIRE(texts.size() == 4);
    CHECK(tasks(texts[0]) == "0");
    const int first = std::stoi(tasks(texts[1]));
    CHECK(first >= 1);
    CHECK(std::stoi(tasks(texts[2])) == first + 2);
    CHECK(tasks(texts[3]) == "5");
    CHECK(texts[3] == weir::metrics_text(run.stats()));
}

TEST_CASE("another run with the same report counts from 0 again") {
    virtual_time time;
    std::vector<std::string> counts;
    const auto metrics =
        std::make_shared<metrics_callback>([&](const std::string& t) { counts.push_back(tasks(t)); });
    for (int i = 0; i < 2; ++i)
        static_cast<void>(take_all(loader().start(time, {.lap = 1s, .reports = {metrics}})));
    CHECK(counts == std::vector<std::string>{"0", "5", "0", "5"});
}

TEST_CASE("a file is whole at each lap, and has the last figures when the run has ended") {
    const folder here;
    const std::string path = here / "training.prom";
    virtual_time time;
    const auto file =
        std::make_shared<metrics_file>(path, weir::metrics_options{.labels = {{"run", "training"}}});
    CHECK(file->name() == path);
    std::vector<std::string> seen;
    auto run =
        loader().start(time, {.lap = 20ms,
                              .on_lap = [&](const weir::pipeline_stats&) { seen.push_back(text_of(path)); },
                              .reports = {file}});
    CHECK(text_of(path).find("weir_run_elapsed_seconds{run=\"training\"} 0\n") != std::string::npos);
    for (int i : run) static_cast<void>(i);
    run.stop();
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].find("weir_run_elapsed_seconds{run=\"training\"} 0.02\n") != std::string::npos);
    CHECK(seen[1].find("weir_run_elapsed_seconds{run=\"training\"} 0.04\n") != std::string::npos);
    CHECK(text_of(path) == weir::metrics_text(run.stats(), {.labels = {{"run", "training"}}}));
    CHECK(std::distance(fs::directory_iterator(here.path), fs::directory_iterator()) == 1);
}

TEST_CASE("OpenMetrics goes to a callback as well") {
    virtual_time time;
    std::string last;
    const auto metrics =
        std::make_shared<metrics_callback>([&](const std::string& text) { last = text; },
                                           weir::metrics_options{.format = metrics_format::openmetrics});
    static_cast<void>(take_all(loader().start(time, {.reports = {metrics}})));
    CHECK(last.ends_with("# EOF\n"));
}

TEST_CASE("of a path that can't be written, and of a full disk, one is warned once, and the run goes on") {
    const folder here;
    for (const std::string& path : {here / "no/such/folder/a.prom", std::string("/dev/full")}) {
        if (path == "/dev/full" && !fs::exists(path)) continue;
        CAPTURE(path);
        const warnings quiet;
        virtual_time time;
        const auto file = std::make_shared<metrics_file>(path);
        CHECK(take_all(loader().start(time, {.lap = 20ms, .reports = {file}})).size() == 5);
        CHECK(warned.find(path + ": " + path + ": ") == 0);
        CHECK(std::count(warned.begin(), warned.end(), ';') == 1);
    }
}

TEST_CASE("of a callback that throws one is warned, and it is called no more in that run") {
    const warnings quiet;
    virtual_time time;
    int calls = 0;
    const auto metrics = std::make_shared<metrics_callback>([&](const std::string&) {
        if (++calls == 2) throw std::runtime_error("not reachable");
    });
    CHECK(take_all(loader().start(time, {.lap = 20ms, .reports = {metrics}})).size() == 5);
    CHECK(calls == 2);
    CHECK(warned == "the callback of metrics: not reachable;");
}

TEST_CASE("a path that is empty, a function that is, and a label that is none are refused at once") {
    CHECK_THROWS_WITH(metrics_file(""),
                      "weir: a metrics_file needs the path of a file, as \"training.prom\"");
    CHECK_THROWS_WITH(metrics_callback(std::function<void(const std::string&)>()),
                      "weir: a metrics_callback needs a function that takes a std::string");
    CHECK_THROWS_AS(metrics_file("a.prom", {.labels = {{"le", "1"}}}), std::invalid_argument);
}
