// What reads metrics reads ours: `promtool` and Prometheus's own parser of OpenMetrics, where they are. And the page that
// documents them says what they are.
#include <weir/report/metrics.hpp>

#include "support/catch.hpp"
#include "support/explained_runs.hpp"
#include "support/folder.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <ranges>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace d = weir::detail;
using weir::labelled_run;
using weir::metrics_format;
using weir::pipeline_stats;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

// The exit status of a command that reads the file.
int status_of(const std::string& command, const std::string& path) {
    const int status = std::system((command + " <'" + path + "'").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int promtool(const std::string& path) {
    return status_of("'" + std::string(WEIR_PROMTOOL) + "' check metrics", path);
}

const std::vector<std::string> hostile = {"a\"b\\c\nd",
                                          "\n\n# EOF\n",
                                          "\\",
                                          "\"} 1\nweir_stage_tasks_total{stage=\"x",
                                          "K\xC3\xB6ln \xE6\x97\xA5\xE6\x9C\xAC",
                                          "",
                                          "\xFF\xFE",
                                          std::string("x\0y", 3),
                                          "\r\t",
                                          "same",
                                          "same"};

// A real run of stages with such names.
pipeline_stats run_of_hostile_names(const std::vector<std::shared_ptr<weir::run_report>>& reports = {}) {
    weir::thread_pool pool(2);
    const auto same = [](int n) { return n; };
    const auto& n = hostile;
    auto p = weir::source(std::views::iota(0, 2000), {.name = n[0]}) | weir::pipe(same, {.name = n[1]}) |
             weir::pipe(same, {.name = n[2]}) | weir::pipe(same, {.name = n[3]}) |
             weir::pipe(same, {.name = n[4], .concurrency = 3}) | weir::pipe(same, {.name = n[5]}) |
             weir::pipe(same, {.name = n[6]}) | weir::pipe(same, {.name = n[7]}) |
             weir::pipe(same, {.name = n[8]}) | weir::pipe(same, {.name = n[9]}) |
             weir::pipe(same, {.name = n[10]}) | weir::sink();
    auto run = p.start(pool, {.lap = 1ms, .reports = reports});
    for (int i : run) static_cast<void>(i);
    run.stop();
    return run.stats();
}

// With every family there is.
pipeline_stats with_everything(pipeline_stats p) {
    p.first_item.emplace();
    p.stages.at(1).transfers.emplace();
    p.stages.at(1).added.emplace();
    p.channels.at(0).max_bytes = 1000;
    weir::process_stats& all = p.process.emplace();
    all.processors = 2;
    all.user_time = all.system_time = 1s;
    all.minor_faults = all.major_faults = all.voluntary_switches = all.involuntary_switches = 1;
    all.bytes_read = all.bytes_written = all.resident = all.peak_resident = 1;
    return p;
}

std::string text_of_runs(metrics_format format) {
    pipeline_stats p = with_everything(run_of_hostile_names());
    p.stages.at(5).name.clear();  // where the run had made one up
    std::vector<labelled_run> runs;
    for (const std::string& name : {hostile[0], hostile[3]}) runs.push_back({{{"run", name}}, p});
    runs.push_back({{{"run", "explained"}}, explained_runs::limited_by(hostile[0], 2'000)});
    return weir::metrics_text(runs, format);
}

// Which labels a family has. No value has a quote or a brace.
std::set<std::string> labels_of(const std::string& text, const std::string& family) {
    std::set<std::string> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(family + "{") && !line.starts_with(family + "_bucket{")) continue;
        for (std::size_t at = line.find('{') + 1; line[at - 1] != '}';
             at = line.find('"', line.find('"', at) + 1) + 2)
            found.insert(line.substr(at, line.find('=', at) - at));
    }
    return found;
}

template <class T, std::size_t N>
void add_rows(std::string& table, const std::string& text, const d::metric<T> (&metrics)[N]) {
    for (const auto& [f, add] : metrics) {
        const std::string name = d::sample_name(f);
        std::string labels;
        for (const std::string& l : labels_of(text, name)) {
            if (l != "le") labels += (labels.empty() ? "`" : ", `") + l + "`";
        }
        table += "| `" + name + "` | " + std::string(d::type_text(f.type)) + " | " + labels + " | " +
                 std::string(f.help) + " | `" + std::string(f.name) + "` | `" + std::string(f.unit) + "` |\n";
    }
}

}  // namespace

TEST_CASE("promtool accepts the metrics of a real run whose names are hostile") {
    if (std::string_view(WEIR_PROMTOOL).empty()) {
        WARN("skipped: there is no promtool (Debian's package prometheus)");
        return;
    }
    const files::folder here("weir_metrics_" + std::to_string(::getpid()));
    const std::string path = here / "weir.prom";
    const auto file = std::make_shared<weir::metrics_file>(path);
    static_cast<void>(run_of_hostile_names({file}));
    CHECK(files::text_of(path).find("weir_stage_tasks_total{stage=\"a\\\"b\\\\c\\nd\"") != std::string::npos);
    CHECK(promtool(path) == 0);
    std::ofstream(path, std::ios::binary) << text_of_runs(metrics_format::prometheus);
    CHECK(promtool(path) == 0);
    // It can say no.
    std::ofstream(path, std::ios::binary)
        << "# HELP weir_a_seconds A.\n# TYPE weir_a_seconds counter\nweir_a_seconds 1\n";
    CHECK(promtool(path) != 0);
}

TEST_CASE("Prometheus's parser of OpenMetrics reads the same, with the names as they are") {
    const std::string parser = WEIR_PYTHON " '" WEIR_HERE "/openmetrics.py' ";
    if (std::string_view(WEIR_PYTHON).empty() ||
        status_of(parser + "--is-there 2>/dev/null", "/dev/null") != 0) {
        WARN("skipped: Python has no prometheus_client (Debian's package python3-prometheus-client)");
        return;
    }
    const files::folder here("weir_metrics_" + std::to_string(::getpid()));
    const std::string path = here / "weir.om";
    const std::string text = text_of_runs(metrics_format::openmetrics);
    std::ofstream(path, std::ios::binary) << text;
    const std::string names = here / "names";
    CHECK(status_of(parser + "'" + names + "'", path) == 0);
    std::string expected;
    for (const std::string& name : hostile) {
        if (name == "\xFF\xFE") {
            expected += "\xEF\xBF\xBD\xEF\xBF\xBD";
        } else if (name.find('\0') != std::string::npos) {
            expected += "x\xEF\xBF\xBDy";
        } else {
            expected += name;
        }
        expected += '\0';
    }
    CHECK(files::text_of(names) == expected + std::string("sink\0", 5));
    std::ofstream(path, std::ios::binary) << text.substr(0, text.size() - 6);  // without its end
    CHECK(status_of(parser + "'" + names + "' 2>/dev/null", path) != 0);
}

TEST_CASE("of a pipe that nobody reads any more one is warned, and the run goes on") {
    static std::string warned;
    warned.clear();
    const auto before = weir::set_report_warning([](std::string_view who, std::string_view why) noexcept {
        warned += std::string(who) + ": " + std::string(why);
    });
    const files::folder here("weir_metrics_" + std::to_string(::getpid()));
    const std::string path = here / "pipe";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    REQUIRE(reader >= 0);
    const auto file = std::make_shared<weir::metrics_file>(path);
    weir::thread_pool pool(1);
    const auto p = weir::source(std::views::iota(0, 100)) | weir::sink();
    auto run = p.start(pool, {.lap = 1h, .reports = {file}});
    ::close(reader);  // what it had from the begin is lost; the end's text finds nobody
    int got = 0;
    for (int i : run) got += i >= 0;
    run.stop();
    CHECK(got == 100);
    CHECK(warned.find(path + ": " + path + ": ") == 0);
    weir::set_report_warning(before);
}

TEST_CASE("the table in include/weir/report/README.md is that of the metrics, and names each label") {
    const std::string text = weir::metrics_text(with_everything(explained_runs::limited_by("slow", 2'000)));
    std::string table;
    add_rows(table, text, d::metrics_of::run);
    add_rows(table, text, d::metrics_of::first_item);
    add_rows(table, text, d::metrics_of::why);
    add_rows(table, text, d::metrics_of::stage);
    add_rows(table, text, d::metrics_of::added);
    add_rows(table, text, d::metrics_of::transfers);
    add_rows(table, text, d::metrics_of::queue);
    add_rows(table, text, d::metrics_of::process);
    const std::string page = files::text_of(WEIR_HERE "/../../../include/weir/report/README.md");
    const bool is_there = page.find("|\n" + table + "\n") != std::string::npos;
    if (!is_there) std::cerr << "The table has to be:\n" << table;  // a message of Catch's would be wrapped
    CHECK(is_there);
    for (const std::string_view label : d::metric_labels) {
        if (label == "le" || label == "quantile") continue;
        CAPTURE(label);
        CHECK(page.find("\n| `" + std::string(label) + "` | `") != std::string::npos);
    }
}
