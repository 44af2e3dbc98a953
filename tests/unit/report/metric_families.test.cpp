#include <weir/report/metric_families.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace d = weir::detail;
using d::metric_type;
using weir::duration;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

namespace {

constexpr bool prometheus = false;
constexpr bool openmetrics = true;

std::vector<d::metric_family> families() {
    std::vector<d::metric_family> all;
    const auto take = [&all](const auto& metrics) {
        for (const auto& m : metrics) all.push_back(m.family);
    };
    take(d::metrics_of::run);
    take(d::metrics_of::first_item);
    take(d::metrics_of::stage);
    take(d::metrics_of::added);
    take(d::metrics_of::transfers);
    take(d::metrics_of::queue);
    take(d::metrics_of::process);
    return all;
}

template <class T, std::size_t N>
std::string text_of(const d::metric<T> (&metrics)[N], const T& value) {
    std::string text;
    for (const auto& m : metrics) {
        d::metric_samples samples(text, m.family, prometheus);
        m.add(samples, value);
    }
    std::string samples;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        if (text[at] != '#') samples += text.substr(at, text.find('\n', at) + 1 - at);
    }
    return samples;
}

}  // namespace

TEST_CASE("each family of metrics has a unique name, also with suffixes") {
    std::set<std::string> names;
    for (const auto& f : families()) {
        CAPTURE(f.name);
        CHECK(f.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz._") == std::string_view::npos);
        CHECK(f.name.substr(0, 5) == "weir.");
        CHECK(names.insert(d::family_name(f)).second);
    }
    for (const std::string& name : names) {
        for (const char* suffix : {"_total", "_bucket", "_count", "_sum", "_created", "_info"}) {
            CHECK(names.count(name + suffix) == 0);
            CHECK_FALSE(name.ends_with(suffix));
        }
    }
}

TEST_CASE("the help of a family is a sentence without characters to escape") {
    for (const auto& f : families()) {
        CAPTURE(f.name);
        CHECK(f.help.find_first_of("\\\"\n|") == std::string_view::npos);
        CHECK(f.help.ends_with('.'));
    }
}

TEST_CASE("the unit of a family is seconds, bytes, or the counted thing") {
    for (const auto& f : families()) {
        CAPTURE(f.name);
        CHECK((f.unit == "s" || f.unit == "By" || (f.unit.starts_with('{') && f.unit.ends_with('}'))));
    }
}

TEST_CASE("the items that a function added to its stage are in the metrics") {
    CHECK(text_of(d::metrics_of::added, weir::added_stats{.num_added = 5, .num_waiting = 3}) ==
          "weir_stage_added_total 5\n"
          "weir_stage_pending 3\n");
}

TEST_CASE("copies to a device are in the metrics of the stage") {
    weir::transfer_stats t;
    t.num_copies = 1;
    t.bytes = 2;
    t.copying = 3s;
    t.num_handed_over = 4;
    t.handed_over = 5s;
    t.exposed = 6s;
    t.num_block_waits = 7;
    t.block_wait = 8s;
    t.num_memory_waits = 9;
    t.memory_wait = 10s;
    CHECK(text_of(d::metrics_of::transfers, t) ==
          "weir_device_copies_total 1\n"
          "weir_device_io_bytes_total 2\n"
          "weir_device_copy_time_seconds_total 3\n"
          "weir_device_handovers_total 4\n"
          "weir_device_handover_time_seconds_total 5\n"
          "weir_device_exposed_time_seconds_total 6\n"
          "weir_device_waits_total{resource=\"block\"} 7\n"
          "weir_device_waits_total{resource=\"memory\"} 9\n"
          "weir_device_wait_time_seconds_total{resource=\"block\"} 8\n"
          "weir_device_wait_time_seconds_total{resource=\"memory\"} 10\n");
}

TEST_CASE("the metrics of the process have what the system tells, and nothing else") {
    weir::process_stats p;
    p.elapsed = 10s;
    CHECK(text_of(d::metrics_of::process, p).empty());
    p.processors = 2;
    p.user_time = 3s;
    p.system_time = 4s;
    p.minor_faults = 5;
    p.major_faults = 6;
    p.voluntary_switches = 7;
    p.involuntary_switches = 8;
    p.bytes_read = 9;
    p.bytes_written = 10;
    p.resident = 11;
    p.peak_resident = 12;
    CHECK(text_of(d::metrics_of::process, p) ==
          "weir_process_processors 2\n"
          "weir_process_cpu_time_seconds_total{mode=\"user\"} 3\n"
          "weir_process_cpu_time_seconds_total{mode=\"system\"} 4\n"
          "weir_process_paging_faults_total{type=\"minor\"} 5\n"
          "weir_process_paging_faults_total{type=\"major\"} 6\n"
          "weir_process_context_switches_total{type=\"voluntary\"} 7\n"
          "weir_process_context_switches_total{type=\"involuntary\"} 8\n"
          "weir_process_disk_io_bytes_total{direction=\"read\"} 9\n"
          "weir_process_disk_io_bytes_total{direction=\"write\"} 10\n"
          "weir_process_memory_usage_bytes 11\n"
          "weir_process_memory_peak_bytes 12\n");
}

namespace {

constexpr d::metric_family tasks{"weir.stage.tasks", "{task}", metric_type::counter, "Done."};
constexpr d::metric_family depth{"weir.queue.depth", "{item}", metric_type::gauge, "In it."};
constexpr d::metric_family bytes{"weir.queue.limit", "By", metric_type::gauge, "Room."};
constexpr d::metric_family times{"weir.task.duration", "s", metric_type::histogram, "Each."};

// What stands behind this in its line; "none" if no line begins so.
std::string value_of(const std::string& text, const std::string& sample) {
    const auto at = ("\n" + text).find("\n" + sample + " ");
    if (at == std::string::npos) return "none";
    const auto begin = at + sample.size() + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("times of metrics are seconds, exact to the nanosecond, without an exponent") {
    CHECK(d::seconds_text(0ns) == "0");
    CHECK(d::seconds_text(1ns) == "0.000000001");
    CHECK(d::seconds_text(1023ns) == "0.000001023");
    CHECK(d::seconds_text(1500ms) == "1.5");
    CHECK(d::seconds_text(20s) == "20");
    CHECK(d::seconds_text(100'000s + 1us) == "100000.000001");
    CHECK(d::seconds_text(duration::max()) == "9223372036.854775807");
}

TEST_CASE("names in Prometheus follow from those in OpenTelemetry") {
    CHECK(d::sample_name(tasks) == "weir_stage_tasks_total");
    CHECK(d::family_name(tasks) == "weir_stage_tasks");
    CHECK(d::sample_name(depth) == "weir_queue_depth");
    CHECK(d::sample_name(bytes) == "weir_queue_limit_bytes");
    CHECK(d::sample_name(times) == "weir_task_duration_seconds");
}

TEST_CASE("help and type come once, before the first sample, with the name of the counter") {
    std::string text;
    d::metric_samples samples(text, tasks, prometheus);
    CHECK(text.empty());
    samples.begin("a=\"1\"");
    samples.add(3U);
    samples.begin("");
    samples.add(UINT64_MAX);
    CHECK(text ==
          "# HELP weir_stage_tasks_total Done.\n"
          "# TYPE weir_stage_tasks_total counter\n"
          "weir_stage_tasks_total{a=\"1\"} 3\n"
          "weir_stage_tasks_total 18446744073709551615\n");
}

TEST_CASE("in OpenMetrics the head has a unit, and the name of a counter without _total") {
    std::string text;
    d::metric_samples(text, tasks, openmetrics).add(3U);
    CHECK(text ==
          "# HELP weir_stage_tasks Done.\n# TYPE weir_stage_tasks counter\nweir_stage_tasks_total 3\n");
    text.clear();
    d::metric_samples(text, bytes, openmetrics).add(3U);
    CHECK(text ==
          "# HELP weir_queue_limit_bytes Room.\n# TYPE weir_queue_limit_bytes gauge\n"
          "# UNIT weir_queue_limit_bytes bytes\nweir_queue_limit_bytes 3\n");
}

TEST_CASE("an absent value has no sample, and a family without samples no head") {
    std::string text;
    d::metric_samples samples(text, bytes, openmetrics);
    samples.add(std::optional<std::uint64_t>());
    samples.add("a", "b", std::optional<duration>());
    CHECK(text.empty());
    samples.add("a", "b", std::optional<duration>(1500ms));
    CHECK(value_of(text, R"(weir_queue_limit_bytes{a="b"})") == "1.5");
}

TEST_CASE("the buckets of a metric count exactly the durations up to their bounds") {
    weir::histogram h;
    for (const duration each : {0ns, 1023ns, 1024ns, 1055ns, 2047ns, 2048ns, 1'000'000ns}) h.record(each);
    h.record(3h);
    std::string text;
    d::metric_samples samples(text, times, prometheus);
    samples.begin("a=\"1\"");
    samples.add(h);
    const auto at = [&](const std::string& le) {
        return value_of(text, "weir_task_duration_seconds_bucket{a=\"1\",le=\"" + le + "\"}");
    };
    CHECK(at("0.000001023") == "2");
    CHECK(at("0.000002047") == "5");
    CHECK(at("0.000004095") == "6");
    CHECK(at("0.000524287") == "6");
    CHECK(at("0.001048575") == "7");
    CHECK(at("1099.511627775") == "7");
    CHECK(at("+Inf") == "8");
    CHECK(value_of(text, R"(weir_task_duration_seconds_count{a="1"})") == "8");
    CHECK(value_of(text, R"(weir_task_duration_seconds_sum{a="1"})") == "10800.001007197");
}

TEST_CASE("all histograms of metrics have the same bounds") {
    const auto bounds = [](const weir::histogram& h) {
        std::string text;
        d::metric_samples(text, times, prometheus).add(h);
        std::string all;
        for (auto at = text.find("le=\""); at != std::string::npos; at = text.find("le=\"", at + 1))
            all += text.substr(at, text.find('}', at) - at);
        return all;
    };
    weir::histogram h;
    h.record(1s, 5);
    CHECK(bounds(h) == bounds({}));
    CHECK(bounds({}).find("le=\"0.000001023\"le=\"0.000002047\"") == 0);
}

TEST_CASE("without quantiles, a histogram of metrics has only the bucket without a bound") {
    std::string text;
    d::metric_samples(text, times, prometheus).add(weir::histogram::without_quantiles(3, 6s, 4s));
    CHECK(text ==
          "# HELP weir_task_duration_seconds Each.\n# TYPE weir_task_duration_seconds histogram\n"
          "weir_task_duration_seconds_bucket{le=\"+Inf\"} 3\n"
          "weir_task_duration_seconds_sum 6\nweir_task_duration_seconds_count 3\n");
}
