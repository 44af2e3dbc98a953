#include <weir/report/metrics.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using weir::labelled_run;
using weir::metric_label;
using weir::metrics_format;
using weir::metrics_text;
using weir::pipeline_stats;
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

TEST_CASE("a stage that copies to a device, and a process that is known, have their metrics") {
    pipeline_stats p = example();
    p.stages[1].transfers.emplace().bytes = 77;
    p.process.emplace().resident = 99;
    const std::string text = metrics_text(p);
    CHECK(has(text, R"(weir_device_io_bytes_total{stage="decode",position="1",kind="pipe"} 77)"));
    CHECK(has(text, "weir_process_memory_usage_bytes 99"));
    CHECK(text.find("weir_device_io_bytes_total{stage=\"src\"") == std::string::npos);
}

TEST_CASE("each family stands in one block, its help and type once and before its samples") {
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

TEST_CASE("OpenMetrics ends with a mark, Prometheus's text has none") {
    CHECK(metrics_text(example(), {.format = metrics_format::openmetrics}).ends_with("\n# EOF\n"));
    CHECK(metrics_text(example()).find("# EOF") == std::string::npos);
    CHECK(metrics_text(example()).find("# UNIT") == std::string::npos);
    CHECK(metrics_text(std::vector<labelled_run>(), metrics_format::openmetrics) == "# EOF\n");
    CHECK(metrics_text(std::vector<labelled_run>()).empty());
}

TEST_CASE("stages of one name, and of none, are told apart") {
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

TEST_CASE("a user's labels are those of every sample, escaped, in the order of their names") {
    const std::string text =
        metrics_text(example(), {.labels = {{"run", "a\"b\n"}, {"host", "h"}, {"empty", ""}}});
    CHECK(has(text, R"(weir_run_elapsed_seconds{host="h",run="a\"b\n"} 10)"));
    CHECK(has(text, R"(weir_queue_depth{host="h",run="a\"b\n",queue="src",position="0"} 1)"));
    for (const std::string& line : lines(text)) {
        if (line[0] != '#') CHECK(line.find(R"({host="h",run="a\"b\n")") != std::string::npos);
    }
}

TEST_CASE("a label that is none, is there twice or is the library's is refused by its name") {
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

TEST_CASE("two runs with the same labels don't fit into one text") {
    const auto both = [](metric_label a, metric_label b) {
        return metrics_text(std::vector<labelled_run>{{{{"run", "x"}, a}, {}}, {{b, {"run", "x"}}, {}}});
    };
    CHECK_THROWS_WITH(both({"host", "h"}, {"host", "h"}),
                      Catch::Matchers::ContainsSubstring(R"(the same labels {host="h",run="x"})"));
    CHECK_THROWS_AS(both({"host", ""}, {"other", ""}), std::invalid_argument);
    CHECK_NOTHROW(both({"host", "h"}, {"host", "i"}));
}

TEST_CASE("when the first item came is a metric once it has, with what the rate since then is made of") {
    pipeline_stats p = example();
    p.num_items = 330;
    p.first_item = {.after = 2500ms, .since = 7500ms, .num_items = 329};
    const std::string text = metrics_text(p);
    CHECK(has(text, "weir_run_items_total 330"));
    CHECK(has(text, "weir_run_first_item_time_seconds 2.5"));
    CHECK(has(text, "weir_run_first_item_items_total 329"));
    CHECK(has(text, "weir_run_first_item_elapsed_seconds 7.5"));
}
