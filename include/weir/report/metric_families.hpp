// weir report, internal: the metrics of a run for metrics.hpp: names, units, values, and the text of samples
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_METRIC_FAMILIES_HPP
#define WEIR_REPORT_METRIC_FAMILIES_HPP

#include <weir/insight/verdict.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/stats.hpp>
#include <weir/report/escape.hpp>

#include <concepts>     // for std::same_as
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <string_view>  // for std::string_view

namespace weir::detail {

enum class metric_type { gauge, counter, histogram };

// A metric, without its samples. The name is in the notation of OpenTelemetry: `weir.queue.depth`. The unit
// is in the notation of UCUM (Unified Code for Units of Measure): s, By for bytes, {item}.
struct metric_family {
    std::string_view name;
    std::string_view unit;
    metric_type type;
    std::string_view help;
};

inline std::string_view type_text(metric_type type) noexcept {
    return type == metric_type::gauge ? "gauge" : type == metric_type::counter ? "counter" : "histogram";
}

inline std::string_view unit_text(const metric_family& f) noexcept {
    return f.unit == "s" ? "seconds" : f.unit == "By" ? "bytes" : "";
}

// \returns the name in Prometheus, by the rules of OpenTelemetry's specification ("Prometheus and OpenMetrics
//          Compatibility"), without the suffix `_total` of a counter.
inline std::string family_name(const metric_family& f) {
    std::string name(f.name);
    for (char& c : name) {
        if (c == '.') c = '_';
    }
    if (const auto unit = unit_text(f); !unit.empty()) (name += '_') += unit;
    return name;
}

inline std::string sample_name(const metric_family& f) {
    return family_name(f) + (f.type == metric_type::counter ? "_total" : "");
}

// \returns the duration in seconds, exact to the nanosecond, without an exponent.
inline std::string seconds_text(duration d) {
    constexpr std::int64_t second = 1'000'000'000;
    std::string fraction = std::to_string(second + d.count() % second);  // 1 and nine digits
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return std::to_string(d.count() / second) + fraction.replace(0, 1, fraction.size() == 1 ? "" : ".");
}

// Writes the samples of one family: lines with labels and a value, for each run, stage or queue. The head of
// the family (help, type, and in OpenMetrics the unit) comes before the first sample. Without samples, there
// is no head.
class metric_samples {
    std::string& text_;
    const metric_family& family_;
    const bool openmetrics_;  // else Prometheus
    const std::string name_;
    std::string labels_;
    bool has_head_ = false;

  public:
    metric_samples(std::string& text, const metric_family& family, bool openmetrics)
        : text_(text), family_(family), openmetrics_(openmetrics), name_(sample_name(family)) {}

    // Sets the labels of the next samples: texts such as `stage="decode"`, with commas between.
    void begin(const std::string& labels) { labels_ = labels; }

    // Adds a sample: a number or a duration. An optional without a value adds nothing.
    void add(const auto& value) { add({}, {}, value); }
    void add(const histogram& h) {
        const auto count = std::to_string(h.count());
        if (h.has_quantiles()) add_buckets(h);
        line("_bucket", "le=\"+Inf\"", count);
        line("_sum", "", seconds_text(h.sum()));
        line("_count", "", count);
    }
    // Adds a sample with one more label, as `state="run"`; without that label if `label_name` is empty.
    template <class T>
    void add(std::string_view label_name, std::string_view label_value, const T& value) {
        if constexpr (requires { value.has_value(); }) {
            if (value) add(label_name, label_value, *value);
        } else {
            const std::string own = label_name.empty() ? std::string() : label_text(label_name, label_value);
            if constexpr (std::same_as<T, duration>) {
                line("", own, seconds_text(value));
            } else {
                line("", own, std::to_string(value));
            }
        }
    }

  private:
    // The bounds are the last nanosecond before a power of two, where a bucket of the histogram ends. So each
    // count is exact.
    void add_buckets(const histogram& h) {
        const auto buckets = h.buckets();
        auto next = buckets.begin();
        std::uint64_t below = 0;
        for (int power = 10; power <= 40; ++power) {
            const duration bound((std::int64_t{1} << power) - 1);
            for (; next != buckets.end() && next->greatest <= bound; ++next) below += next->count;
            line("_bucket", label_text("le", seconds_text(bound)), std::to_string(below));
        }
    }

    void line(std::string_view suffix, const std::string& label, const std::string& value) {
        if (!has_head_) head();
        (text_ += name_) += suffix;
        if (!labels_.empty() || !label.empty()) {
            (text_ += '{') += labels_;
            if (!labels_.empty() && !label.empty()) text_ += ',';
            (text_ += label) += '}';
        }
        ((text_ += ' ') += value) += '\n';
    }
    void head() {
        has_head_ = true;
        const std::string name = openmetrics_ ? family_name(family_) : name_;
        ((((text_ += "# HELP ") += name) += ' ') += family_.help) += '\n';
        ((((text_ += "# TYPE ") += name) += ' ') += type_text(family_.type)) += '\n';
        const auto unit = unit_text(family_);
        if (openmetrics_ && !unit.empty()) ((((text_ += "# UNIT ") += name) += ' ') += unit) += '\n';
    }
};

// A family, and the function that adds the samples of an object, such as a stage, to it.
template <class T>
struct metric {
    metric_family family;
    void (*add)(metric_samples& to, const T& of);
};

// A function for `metric::add` that adds the value of one member of the statistics.
template <auto Member>
inline constexpr auto add_member = [](metric_samples& to, const auto& of) { to.add(of.*Member); };

// The families, as in the table of include/weir/report/README.md.
namespace metrics_of {

using enum metric_type;

inline constexpr metric<pipeline_stats> run[] = {
    {{"weir.run.elapsed", "s", gauge, "From the start of the run to the snapshot."},
     add_member<&pipeline_stats::elapsed>},
    {{"weir.run.idle", "s", gauge, "For how long nothing has moved at the snapshot."},
     add_member<&pipeline_stats::idle>},
    {{"weir.run.items", "{item}", counter, "Items that the consumer has taken."},
     add_member<&pipeline_stats::num_items>},
};

inline constexpr metric<first_item_stats> first_item[] = {
    {{"weir.run.first_item.time", "s", gauge, "From the start of the run to the first item at the consumer."},
     add_member<&first_item_stats::after>},
    {{"weir.run.first_item.items", "{item}", counter,
      "Items that the consumer has taken after the first one."},
     add_member<&first_item_stats::num_items>},
    {{"weir.run.first_item.elapsed", "s", gauge, "From the first item at the consumer to the snapshot."},
     add_member<&first_item_stats::since>},
};

inline constexpr metric<verdict> why[] = {
    {{"weir.run.verdict", "{verdict}", gauge, "Always 1; the labels say what limits the rate."},
     [](metric_samples& to, const verdict&) { to.add(1); }},
};

inline constexpr metric<stage_stats> stage[] = {
    {{"weir.stage.concurrency", "{slot}", gauge, "Slots at work."}, add_member<&stage_stats::concurrency>},
    {{"weir.stage.tasks", "{task}", counter, "Invocations finished, failed ones included."},
     add_member<&stage_stats::num_tasks>},
    {{"weir.stage.failures", "{task}", counter, "Invocations that ended with an exception."},
     add_member<&stage_stats::num_failures>},
    {{"weir.stage.failure.time", "s", counter, "Time of the failed invocations, summed."},
     add_member<&stage_stats::failure_time>},
    {{"weir.stage.busy", "s", counter, "Time of all invocations, summed over slots, open ones included."},
     add_member<&stage_stats::busy>},
    {{"weir.stage.slot.time", "s", counter, "Where the slots spent their time; the states sum to all of it."},
     [](metric_samples& to, const stage_stats& s) {
         const slot_times t = s.times();
         for (const auto& state : states_by_number) to.add("state", state.name, t.*state.time);
     }},
    {{"weir.stage.task.duration", "s", histogram, "Time of each successful invocation."},
     add_member<&stage_stats::task_times>},
};

inline constexpr metric<added_stats> added[] = {
    {{"weir.stage.added", "{item}", counter, "Items that the function of a traversal added to its stage."},
     add_member<&added_stats::num_added>},
    {{"weir.stage.pending", "{item}", gauge, "Of those, how many no slot has begun."},
     add_member<&added_stats::num_waiting>},
};

inline constexpr metric<transfer_stats> transfers[] = {
    {{"weir.device.copies", "{copy}", counter, "Copies to a device that are done."},
     add_member<&transfer_stats::num_copies>},
    {{"weir.device.io", "By", counter, "Bytes of the copies that are done."},
     add_member<&transfer_stats::bytes>},
    {{"weir.device.copy.time", "s", counter, "Time that the device took for the copies."},
     add_member<&transfer_stats::copying>},
    {{"weir.device.handovers", "{copy}", counter, "Copies that a consumer's stream took over."},
     add_member<&transfer_stats::num_handed_over>},
    {{"weir.device.handover.time", "s", counter, "Time that the device took for those."},
     add_member<&transfer_stats::handed_over>},
    {{"weir.device.exposed.time", "s", counter,
      "The part of the handovers' time in which the consumer's stream had nothing to do."},
     add_member<&transfer_stats::exposed>},
    {{"weir.device.waits", "{wait}", counter,
      "Times that the blocks of a pool, or the device's memory, ran out."},
     [](metric_samples& to, const transfer_stats& t) {
         to.add("resource", "block", t.num_block_waits);
         to.add("resource", "memory", t.num_memory_waits);
     }},
    {{"weir.device.wait.time", "s", counter, "Time that was waited for those, summed over slots."},
     [](metric_samples& to, const transfer_stats& t) {
         to.add("resource", "block", t.block_wait);
         to.add("resource", "memory", t.memory_wait);
     }},
};

inline constexpr metric<channel_stats> queue[] = {
    {{"weir.queue.depth", "{item}", gauge, "Items in the queue."}, add_member<&channel_stats::size>},
    {{"weir.queue.capacity", "{item}", gauge, "Items that the queue has room for."},
     add_member<&channel_stats::capacity>},
    {{"weir.queue.usage", "By", gauge, "Bytes in the queue, where they are limited."},
     [](metric_samples& to, const channel_stats& c) {
         if (c.max_bytes != 0) to.add(c.bytes);
     }},
    {{"weir.queue.limit", "By", gauge, "Bytes that the queue has room for, where they are limited."},
     [](metric_samples& to, const channel_stats& c) {
         if (c.max_bytes != 0) to.add(c.max_bytes);
     }},
    {{"weir.queue.puts", "{item}", counter, "Items put."}, add_member<&channel_stats::num_put>},
    {{"weir.queue.gets", "{item}", counter, "Items taken."}, add_member<&channel_stats::num_get>},
    {{"weir.queue.discards", "{item}", counter, "Items destroyed in the queue, when a run was stopped."},
     add_member<&channel_stats::num_discarded>},
    {{"weir.queue.put.wait", "s", counter,
      "Time that puts waited for room, summed over puts, open ones included."},
     add_member<&channel_stats::put_wait>},
    {{"weir.queue.get.wait", "s", counter,
      "Time that gets waited for an item, summed over gets, open ones included."},
     add_member<&channel_stats::get_wait>},
    {{"weir.queue.put.blocked", "s", counter, "Time in which at least one put waited."},
     add_member<&channel_stats::put_blocked>},
    {{"weir.queue.get.blocked", "s", counter, "Time in which at least one get waited."},
     add_member<&channel_stats::get_blocked>},
    {{"weir.queue.empty", "s", counter, "Time without an item; data readiness is 1 - its rate."},
     add_member<&channel_stats::empty>},
    {{"weir.queue.put.wait.duration", "s", histogram, "How long each completed put waited."},
     add_member<&channel_stats::put_waits>},
    {{"weir.queue.get.wait.duration", "s", histogram, "How long each completed get waited."},
     add_member<&channel_stats::get_waits>},
};

inline constexpr metric<process_stats> process[] = {
    {{"weir.process.processors", "{cpu}", gauge, "Processors that the process may use."},
     add_member<&process_stats::processors>},
    {{"weir.process.cpu.time", "s", counter, "Processor time of all threads since the run began."},
     [](metric_samples& to, const process_stats& p) {
         to.add("mode", "user", p.user_time);
         to.add("mode", "system", p.system_time);
     }},
    {{"weir.process.paging.faults", "{fault}", counter,
      "Page faults since the run began; of major ones storage was read."},
     [](metric_samples& to, const process_stats& p) {
         to.add("type", "minor", p.minor_faults);
         to.add("type", "major", p.major_faults);
     }},
    {{"weir.process.context_switches", "{count}", counter,
      "Times that a thread left its processor since the run began."},
     [](metric_samples& to, const process_stats& p) {
         to.add("type", "voluntary", p.voluntary_switches);
         to.add("type", "involuntary", p.involuntary_switches);
     }},
    {{"weir.process.disk.io", "By", counter, "Bytes from and to storage since the run began."},
     [](metric_samples& to, const process_stats& p) {
         to.add("direction", "read", p.bytes_read);
         to.add("direction", "write", p.bytes_written);
     }},
    {{"weir.process.memory.usage", "By", gauge, "Resident memory."}, add_member<&process_stats::resident>},
    {{"weir.process.memory.peak", "By", gauge, "The most resident memory since the process began."},
     add_member<&process_stats::peak_resident>},
};

}  // namespace metrics_of

}  // namespace weir::detail

#endif
