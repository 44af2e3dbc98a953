#include <weir/report/metric_families.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace d = weir::detail;
using namespace std::chrono_literals;

namespace {

std::vector<d::metric_family> families() {
    std::vector<d::metric_family> all;
    const auto take = [&all](const auto& metrics) {
        for (const auto& m : metrics) all.push_back(m.family);
    };
    take(d::metrics_of::run);
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
        d::metric_samples samples(text, m.family, weir::metrics_format::prometheus);
        m.add(samples, value);
    }
    std::string samples;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        if (text[at] != '#') samples += text.substr(at, text.find('\n', at) + 1 - at);
    }
    return samples;
}

}  // namespace

TEST_CASE("each family of metrics has a name of its own that no suffix makes another's") {
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

TEST_CASE("help is a sentence that needs no escapes") {
    for (const auto& f : families()) {
        CAPTURE(f.name);
        CHECK(f.help.find_first_of("\\\"\n|") == std::string_view::npos);
        CHECK(f.help.ends_with('.'));
    }
}

TEST_CASE("units are seconds, bytes, or what is counted") {
    for (const auto& f : families()) {
        CAPTURE(f.name);
        CHECK((f.unit == "s" || f.unit == "By" || (f.unit.starts_with('{') && f.unit.ends_with('}'))));
    }
}

TEST_CASE("what a traversal's function added to its stage is in its metrics") {
    CHECK(text_of(d::metrics_of::added, weir::added_stats{.num_added = 5, .num_waiting = 3}) ==
          "weir_stage_added_total 5\n"
          "weir_stage_pending 3\n");
}

TEST_CASE("a stage's copies to a device are all in its metrics") {
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

TEST_CASE("of the process what the system says is in its metrics, and nothing else") {
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
