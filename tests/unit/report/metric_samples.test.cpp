#include <weir/report/metric_samples.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace d = weir::detail;
using d::metric_type;
using weir::duration;
using weir::metrics_format;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

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

TEST_CASE("backslash, quote and newline are escaped in labels, and nothing else is") {
    CHECK(d::label_text("a", "") == R"(a="")");
    CHECK(d::label_text("a", "b\\c\"d\ne") == R"(a="b\\c\"d\ne")");
    CHECK(d::label_text("a", "\\n") == R"(a="\\n")");
    CHECK(d::label_text("a", "{},=#\t\r'") == "a=\"{},=#\t\r'\"");
    CHECK(d::label_text("a", "K\xC3\xB6ln \xE2\x82\xAC") == "a=\"K\xC3\xB6ln \xE2\x82\xAC\"");
}

TEST_CASE("each byte that is no UTF-8 becomes U+FFFD in labels, and so does a 0") {
    CHECK(d::label_text("a", "x\xFFy") == "a=\"x\xEF\xBF\xBDy\"");
    CHECK(d::label_text("a", "\xC3\"") == "a=\"\xEF\xBF\xBD\\\"\"");
    CHECK(d::label_text("a", "x\0y"sv) == "a=\"x\xEF\xBF\xBDy\"");
}

TEST_CASE("times are seconds with every nanosecond, and no exponent") {
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

TEST_CASE("help and type come once, before the first sample, with a counter's own name") {
    std::string text;
    d::metric_samples samples(text, tasks, metrics_format::prometheus);
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

TEST_CASE("in OpenMetrics the head has a unit, and a counter's name without _total") {
    std::string text;
    d::metric_samples(text, tasks, metrics_format::openmetrics).add(3U);
    CHECK(text ==
          "# HELP weir_stage_tasks Done.\n# TYPE weir_stage_tasks counter\nweir_stage_tasks_total 3\n");
    text.clear();
    d::metric_samples(text, bytes, metrics_format::openmetrics).add(3U);
    CHECK(text ==
          "# HELP weir_queue_limit_bytes Room.\n# TYPE weir_queue_limit_bytes gauge\n"
          "# UNIT weir_queue_limit_bytes bytes\nweir_queue_limit_bytes 3\n");
}

TEST_CASE("what is absent has no sample, and a family without one no head") {
    std::string text;
    d::metric_samples samples(text, bytes, metrics_format::openmetrics);
    samples.add(std::optional<std::uint64_t>());
    samples.add("a", "b", std::optional<duration>());
    CHECK(text.empty());
    samples.add("a", "b", std::optional<duration>(1500ms));
    CHECK(value_of(text, R"(weir_queue_limit_bytes{a="b"})") == "1.5");
}

TEST_CASE("a histogram's buckets count whatever is at most as long as their bound, exactly") {
    weir::histogram h;
    for (const duration each : {0ns, 1023ns, 1024ns, 1055ns, 2047ns, 2048ns, 1'000'000ns}) h.record(each);
    h.record(3h);
    std::string text;
    d::metric_samples samples(text, times, metrics_format::prometheus);
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

TEST_CASE("each text of a histogram has the same bounds, whatever is in it") {
    const auto bounds = [](const weir::histogram& h) {
        std::string text;
        d::metric_samples(text, times, metrics_format::prometheus).add(h);
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

TEST_CASE("where no quantiles are kept there is only the bucket that has everything") {
    std::string text;
    d::metric_samples(text, times, metrics_format::prometheus)
        .add(weir::histogram::without_quantiles(3, 6s, 4s));
    CHECK(text ==
          "# HELP weir_task_duration_seconds Each.\n# TYPE weir_task_duration_seconds histogram\n"
          "weir_task_duration_seconds_bucket{le=\"+Inf\"} 3\n"
          "weir_task_duration_seconds_sum 6\nweir_task_duration_seconds_count 3\n");
}
