#include <weir/report/metrics.hpp>

#include "support/catch.hpp"
#include "support/explained_runs.hpp"
#include "support/folder.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using items::take_all;
using weir::labelled_run;
using weir::metric_label;
using weir::metrics_callback;
using weir::metrics_file;
using weir::metrics_format;
using weir::metrics_text;
using weir::pipeline_stats;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

namespace {

pipeline_stats example() {
    pipeline_stats p;
    p.elapsed = 10s;
    p.idle = 3s;
    p.stages.resize(2);
    p.stages[0].name = "src";
    p.stages[0].kind = "source";
    p.stages[1].name = "decode";
    p.stages[1].kind = "pipe";
    p.stages[1].concurrency = 2;
    p.stages[1].num_tasks = 333;
    p.stages[1].num_failures = 1;
    p.stages[1].busy = 13'320ms;
    p.stages[1].task_times.record(40ms, 332);
    weir::slot_times t;
    t.off = 1s;
    t.wait_get = 2s;
    t.runnable = 3s;
    t.run = 500ms;
    t.await = 500ms;
    t.wait_put = 2s;
    t.wait_turn = 1s;
    p.stages[1].per_slot = {t, t};
    p.channels.resize(1);
    weir::channel_stats& c = p.channels[0];
    c.name = "src";
    c.size = 1;
    c.capacity = 2;
    c.num_put = 335;
    c.num_get = 334;
    c.put_wait = 1s;
    c.get_wait = 2s;
    c.put_blocked = 3s;
    c.get_blocked = 4s;
    c.empty = 5s;
    c.put_waits.record(3ms, 335);
    c.get_waits.record(6ms, 334);
    return p;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
}

bool has(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::string refusal(const std::vector<metric_label>& labels) {
    try {
        static_cast<void>(metrics_text(pipeline_stats(), {.labels = labels}));
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("each figure of a stage is a metric with its name, position and kind") {
    const std::string text = metrics_text(example());
    const auto stage = [&](const char* name, const char* value, const std::string& label = "") {
        return has(text, "weir_stage_" + std::string(name) +
                             "{stage=\"decode\",position=\"1\",kind=\"pipe\"" + label + "} " + value);
    };
    CHECK(has(text, "weir_run_elapsed_seconds 10"));
    CHECK(has(text, "weir_run_idle_seconds 3"));
    CHECK(has(text, "weir_run_items_total 0"));
    CHECK(text.find("weir_run_first_item") == std::string::npos);
    CHECK(stage("concurrency", "2"));
    CHECK(stage("tasks_total", "333"));
    CHECK(stage("failures_total", "1"));
    CHECK(stage("busy_seconds_total", "13.32"));
    CHECK(stage("slot_time_seconds_total", "2", ",state=\"off\""));
    CHECK(stage("slot_time_seconds_total", "4", ",state=\"wait_get\""));
    CHECK(stage("slot_time_seconds_total", "6", ",state=\"runnable\""));
    CHECK(stage("slot_time_seconds_total", "1", ",state=\"run\""));
    CHECK(stage("slot_time_seconds_total", "1", ",state=\"await\""));
    CHECK(stage("slot_time_seconds_total", "4", ",state=\"wait_put\""));
    CHECK(stage("slot_time_seconds_total", "2", ",state=\"wait_turn\""));
    CHECK(stage("task_duration_seconds_bucket", "0", ",le=\"0.033554431\""));
    CHECK(stage("task_duration_seconds_bucket", "332", ",le=\"0.067108863\""));
    CHECK(stage("task_duration_seconds_count", "332"));
    CHECK(stage("task_duration_seconds_sum", "13.28"));
    CHECK(text.find("weir_device") == std::string::npos);
    CHECK(text.find("weir_process") == std::string::npos);
}

TEST_CASE("each figure of a queue is a metric, bytes only where they are limited") {
    pipeline_stats p = example();
    const std::string text = metrics_text(p);
    const auto queue = [](const std::string& in, const char* name, const char* value) {
        return has(in, "weir_queue_" + std::string(name) + "{queue=\"src\",position=\"0\"} " + value);
    };
    CHECK(queue(text, "depth", "1"));
    CHECK(queue(text, "capacity", "2"));
    CHECK(queue(text, "puts_total", "335"));
    CHECK(queue(text, "gets_total", "334"));
    CHECK(queue(text, "put_wait_seconds_total", "1"));
    CHECK(queue(text, "get_wait_seconds_total", "2"));
    CHECK(queue(text, "put_blocked_seconds_total", "3"));
    CHECK(queue(text, "get_blocked_seconds_total", "4"));
    CHECK(queue(text, "empty_seconds_total", "5"));
    CHECK(queue(text, "put_wait_duration_seconds_count", "335"));
    CHECK(queue(text, "get_wait_duration_seconds_count", "334"));
    CHECK(text.find("weir_queue_usage") == std::string::npos);
    p.channels[0].bytes = 5;
    p.channels[0].max_bytes = 7;
    CHECK(queue(metrics_text(p), "usage_bytes", "5"));
    CHECK(queue(metrics_text(p), "limit_bytes", "7"));
}

TEST_CASE("stages that copy to a device, and a known process, have metrics") {
    pipeline_stats p = example();
    p.stages[1].transfers.emplace().bytes = 77;
    p.process.emplace().resident = 99;
    const std::string text = metrics_text(p);
    CHECK(has(text, R"(weir_device_io_bytes_total{stage="decode",position="1",kind="pipe"} 77)"));
    CHECK(has(text, "weir_process_memory_usage_bytes 99"));
    CHECK(text.find("weir_device_io_bytes_total{stage=\"src\"") == std::string::npos);
}

TEST_CASE("each family is one block, with its help and type once before its samples") {
    pipeline_stats p = example();
    p.process.emplace().resident = 99;
    for (const auto format : {metrics_format::prometheus, metrics_format::openmetrics}) {
        const std::string text =
            metrics_text(std::vector<labelled_run>{{{{"run", "a"}}, p}, {{{"run", "b"}}, p}}, format);
        std::set<std::string> seen;
        std::string name;
        for (const std::string& line : lines(text)) {
            CAPTURE(line);
            if (line == "# EOF") continue;
            if (line.starts_with("# HELP ")) {
                name = line.substr(7, line.find(' ', 7) - 7);
                CHECK(seen.insert(name).second);
                CHECK_FALSE(text.find("# TYPE " + name + " ") == std::string::npos);
            } else {
                CHECK((line.starts_with(name) || line.starts_with("# TYPE " + name + " ") ||
                       line.starts_with("# UNIT " + name + " ")));
            }
        }
        CHECK(seen.size() == 23);
    }
}

TEST_CASE("the text of OpenMetrics ends with a mark, that of Prometheus does not") {
    CHECK(metrics_text(example(), {.format = metrics_format::openmetrics}).ends_with("\n# EOF\n"));
    CHECK(metrics_text(example()).find("# EOF") == std::string::npos);
    CHECK(metrics_text(example()).find("# UNIT") == std::string::npos);
    CHECK(metrics_text(std::vector<labelled_run>(), metrics_format::openmetrics) == "# EOF\n");
    CHECK(metrics_text(std::vector<labelled_run>()).empty());
}

TEST_CASE("stages with the same name, or without one, are told apart") {
    pipeline_stats p;
    p.stages.resize(3);
    p.stages[0].name = p.stages[1].name = "a";
    const std::string text = metrics_text(p);
    CHECK(has(text, R"(weir_stage_tasks_total{stage="a",position="0",kind=""} 0)"));
    CHECK(has(text, R"(weir_stage_tasks_total{stage="a",position="1",kind=""} 0)"));
    CHECK(has(text, R"(weir_stage_tasks_total{stage="",position="2",kind=""} 0)"));
    const auto all = lines(text);
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
}

TEST_CASE("the labels of a user are in every sample, escaped, in the order of their names") {
    const std::string text =
        metrics_text(example(), {.labels = {{"run", "a\"b\n"}, {"host", "h"}, {"empty", ""}}});
    CHECK(has(text, R"(weir_run_elapsed_seconds{host="h",run="a\"b\n"} 10)"));
    CHECK(has(text, R"(weir_queue_depth{host="h",run="a\"b\n",queue="src",position="0"} 1)"));
    for (const std::string& line : lines(text)) {
        if (line[0] != '#') CHECK(line.find(R"({host="h",run="a\"b\n")") != std::string::npos);
    }
}

TEST_CASE("a label that is invalid, is given twice or belongs to the library is refused by name") {
    for (const char* name : {"", "0a", "9a", "a-b", "a b", "K\xC3\xB6ln", "__name", "a:b"}) {
        CAPTURE(name);
        CHECK(refusal({{name, "x"}}).find("weir: '" + std::string(name) + "' can't be the name of a label") ==
              0);
    }
    for (const char* name : {"stage", "le", "position", "state"}) {
        CAPTURE(name);
        CHECK(refusal({{name, "x"}}).find("weir: the label '" + std::string(name) + "' is there twice, or") ==
              0);
    }
    CHECK(refusal({{"a", "x"}, {"a", "y"}}).find("weir: the label 'a' is there twice") == 0);
    CHECK(refusal({{"_a09", "x"}, {"A", "y"}, {"zZ", "z"}}) == "none");
}

TEST_CASE("two runs with the same labels in one text are refused") {
    const auto both = [](metric_label a, metric_label b) {
        return metrics_text(std::vector<labelled_run>{{{{"run", "x"}, a}, {}}, {{b, {"run", "x"}}, {}}});
    };
    CHECK_THROWS_WITH(both({"host", "h"}, {"host", "h"}),
                      Catch::Matchers::ContainsSubstring(R"(the same labels {host="h",run="x"})"));
    CHECK_THROWS_AS(both({"host", ""}, {"other", ""}), std::invalid_argument);
    CHECK_NOTHROW(both({"host", "h"}, {"host", "i"}));
}

TEST_CASE("when the first item has come, its time and the parts of the rate since then are metrics") {
    pipeline_stats p = example();
    p.num_items = 330;
    p.first_item = {.after = 2500ms, .since = 7500ms, .num_items = 329};
    const std::string text = metrics_text(p);
    CHECK(has(text, "weir_run_items_total 330"));
    CHECK(has(text, "weir_run_first_item_time_seconds 2.5"));
    CHECK(has(text, "weir_run_first_item_items_total 329"));
    CHECK(has(text, "weir_run_first_item_elapsed_seconds 7.5"));
}

TEST_CASE("the verdict is a metric whose labels say what limits the rate") {
    const pipeline_stats p = explained_runs::limited_by("slow \"1\"", 2'000);
    const std::string text = metrics_text(p);
    CHECK(has(text, "# TYPE weir_run_verdict gauge"));
    CHECK(has(text, "weir_run_verdict{cause=\"stage\",stage=\"slow \\\"1\\\"\"} 1"));
    CHECK(has(metrics_text(p, {.labels = {{"run", "a"}}}),
              "weir_run_verdict{run=\"a\",cause=\"stage\",stage=\"slow \\\"1\\\"\"} 1"));
    pipeline_stats shorter = p;
    shorter.elapsed = 100 * weir::detail::cost_of_brief_verdict(p) - 1ns;
    CHECK(metrics_text(shorter).find("weir_run_verdict") == std::string::npos);
}

TEST_CASE("a verdict without a stage has no label for it") {
    const std::string text = metrics_text(explained_runs::balanced());
    CHECK(has(text, "weir_run_verdict{cause=\"balanced\"} 1"));
}

TEST_CASE("metrics of laps have the last verdict, and at the end that of the run") {
    std::vector<std::string> texts;
    metrics_callback report([&texts](const std::string& text) { texts.push_back(text); });
    weir::run_report& run = report;
    const pipeline_stats lap = explained_runs::limited_by("slow", 2'000);
    const pipeline_stats all = explained_runs::limited_by("other", 2'000);
    run.begins(lap - lap);
    run.lap(lap);
    run.lap(explained_runs::limited_by("other", 100));
    run.ends(all - all, all);
    run.begins(lap - lap);
    REQUIRE(texts.size() == 5);
    CHECK(texts[0].find("weir_run_verdict") == std::string::npos);
    CHECK(has(texts[1], "weir_run_verdict{cause=\"stage\",stage=\"slow\"} 1"));
    CHECK(has(texts[2], "weir_run_verdict{cause=\"stage\",stage=\"slow\"} 1"));
    CHECK(has(texts[3], "weir_run_verdict{cause=\"stage\",stage=\"other\"} 1"));
    CHECK(texts[4].find("weir_run_verdict") == std::string::npos);
}

TEST_CASE("the content types are those of the two formats") {
    using weir::metrics_format;
    CHECK(weir::metrics_content_type(metrics_format::prometheus) ==
          "text/plain; version=0.0.4; charset=utf-8");
    CHECK(weir::metrics_content_type(metrics_format::openmetrics) ==
          "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

namespace {

namespace fs = std::filesystem;

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

TEST_CASE("counters count from the start of the run, at its begin, at each lap and at its end") {
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

TEST_CASE("a further run with the same report counts from 0 again") {
    virtual_time time;
    std::vector<std::string> counts;
    const auto metrics =
        std::make_shared<metrics_callback>([&](const std::string& t) { counts.push_back(tasks(t)); });
    for (int i = 0; i < 2; ++i)
        static_cast<void>(take_all(loader().start(time, {.lap = 1s, .reports = {metrics}})));
    CHECK(counts == std::vector<std::string>{"0", "5", "0", "5"});
}

TEST_CASE("the file of metrics is complete at each lap, and has the last figures when the run has ended") {
    const files::folder here("weir metrics_report test");
    const std::string path = here / "training.prom";
    virtual_time time;
    const auto file =
        std::make_shared<metrics_file>(path, weir::metrics_options{.labels = {{"run", "training"}}});
    CHECK(file->name() == path);
    std::vector<std::string> seen;
    auto run =
        loader().start(time,
                       {.lap = 20ms,
                        .on_lap = [&](const weir::pipeline_stats&) { seen.push_back(files::text_of(path)); },
                        .reports = {file}});
    CHECK(files::text_of(path).find("weir_run_elapsed_seconds{run=\"training\"} 0\n") != std::string::npos);
    for (int i : run) static_cast<void>(i);
    run.stop();
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].find("weir_run_elapsed_seconds{run=\"training\"} 0.02\n") != std::string::npos);
    CHECK(seen[1].find("weir_run_elapsed_seconds{run=\"training\"} 0.04\n") != std::string::npos);
    CHECK(files::text_of(path) == weir::metrics_text(run.stats(), {.labels = {{"run", "training"}}}));
    CHECK(std::distance(fs::directory_iterator(here.path), fs::directory_iterator()) == 1);
}

TEST_CASE("a callback can get OpenMetrics") {
    virtual_time time;
    std::string last;
    const auto metrics =
        std::make_shared<metrics_callback>([&](const std::string& text) { last = text; },
                                           weir::metrics_options{.format = metrics_format::openmetrics});
    static_cast<void>(take_all(loader().start(time, {.reports = {metrics}})));
    CHECK(last.ends_with("# EOF\n"));
}

TEST_CASE("a path that can't be written, and a full disk, give one warning, and the run goes on") {
    const files::folder here("weir metrics_report test");
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

TEST_CASE("a callback that throws gives a warning, and is not called again in that run") {
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

TEST_CASE("an empty path, an empty function and an invalid label are refused at once") {
    CHECK_THROWS_WITH(metrics_file(""),
                      "weir: a metrics_file needs the path of a file, as \"training.prom\"");
    CHECK_THROWS_WITH(metrics_callback(std::function<void(const std::string&)>()),
                      "weir: a metrics_callback needs a function that takes a std::string");
    CHECK_THROWS_AS(metrics_file("a.prom", {.labels = {{"le", "1"}}}), std::invalid_argument);
}
