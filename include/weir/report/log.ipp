// weir report, internal: bodies of the functions of report/log.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LOG_IPP
#define WEIR_REPORT_LOG_IPP

#include <weir/report/log.hpp>

#include <weir/insight/verdict.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/table.hpp>

#include <cstdint>      // for std::int64_t, std::uint64_t
#include <optional>     // for std::optional
#include <string_view>  // for std::string_view
#include <utility>      // for std::move

namespace weir::detail {

WEIR_INLINE std::string verdict_line(const verdict& v) {
    std::string text = "cause=" + std::string(name_of(v.cause));
    if (!v.stage.empty()) {
        text += " stage=\"";
        for (const char c : v.stage) text += c == '"' ? '\'' : c;
        text += '"';
    }
    text += " gain=" + units::fixed(v.gain, 2) + " sure=" + units::fixed(v.sure, 2) + ": " + v.sentence + ".";
    return "[verdict]\t" + in_one_line(std::move(text)) + "\n";
}

// \returns the change as the programs `examples/explain` and `examples/what_if` read it:
//          `{"stage":"decode","concurrency":4}`.
WEIR_INLINE std::string change_json(const setting_change& change) {
    const auto count = [&change] { return std::to_string(static_cast<std::uint64_t>(change.value)); };
    std::string text = "{";
    if (!change.stage.empty()) {
        text += "\"stage\":";
        append_json(text, std::string_view(change.stage));
        text += ',';
    }
    switch (change.kind) {
        case change_kind::faster:
            return text + "\"faster\":" + units::fixed(change.value, 4) + "}";
        case change_kind::concurrency:
            return text + "\"concurrency\":" + count() + "}";
        case change_kind::capacity:
            return text + "\"capacity\":" + count() + "}";
        case change_kind::batch_size:
            return text + "\"batch\":" + count() + "}";
        case change_kind::completion_order:
            return text + "\"output_order\":\"completion\"}";
        case change_kind::threads:
            return text + "\"workers\":" + count() + "}";
        case change_kind::consumer:
            return text + "\"consumer_ms\":" + units::fixed(change.value * 1e3, 6) + "}";
        case change_kind::source:
            return text + "\"source\":\"unlimited\"}";
        case change_kind::max_bytes:
            return text + "\"max_bytes\":0}";
    }
    return "null";
}

WEIR_INLINE std::string verdict_json(const verdict& v) {
    std::string text = "{\"cause\":";
    append_json(text, name_of(v.cause));
    text += ",\"stage\":";
    v.stage.empty() ? void(text += "null") : append_json(text, std::string_view(v.stage));
    text += ",\"lost\":" + units::fixed(v.lost, 4) + ",\"gain\":" + units::fixed(v.gain, 4) +
            ",\"change\":" + (v.change ? change_json(*v.change) : "null") +
            ",\"sure\":" + units::fixed(v.sure, 2) + ",\"sentence\":";
    append_json(text, std::string_view(v.sentence));
    return text + "}";
}

WEIR_INLINE std::optional<verdict> cheap_verdict(const pipeline_stats& stats) {
    // No prediction costs less than `least`, and none above `most` is made: see brief_verdict(). A verdict
    // without a prediction costs almost nothing; it is steadier if made of the items of 2 s.
    constexpr duration least(5'000'000), without_prediction(20'000'000), most(100'000'000);
    const duration allowed = stats.elapsed / 100;
    if (allowed < least) return std::nullopt;  // spares the estimate, which costs some 50 us, in short laps
    const duration predicted = cost_of_brief_verdict(stats);
    const duration cost = predicted == duration(0) ? without_prediction : smaller(predicted, most);
    return cost > allowed ? std::nullopt : brief_verdict(stats);
}

WEIR_INLINE const std::optional<verdict>& recent_verdict::add(const pipeline_stats& lap) {
    since_ = since_.elapsed == duration(0) ? lap : joined(since_, lap);
    if (std::optional<verdict> next = cheap_verdict(since_)) {
        latest_ = std::move(next);
        since_ = pipeline_stats();
    }
    return latest_;
}

// Whether the stage gets a line for its tasks (invocations of its function). Sources and sinks (first and
// last stages) don't: they only put and get items, which the lines of their queues show.
inline bool has_tasks(const stage_stats& s) { return s.kind != "source" && s.kind != "sink"; }

// \returns the quantile, or `-` in the same width if it is unknown.
inline std::string log_quantile(const histogram& h, double q) {
    return h.has_quantiles() ? units::log_time(h.quantile(q)) : units::right("-", 12);
}

inline std::string current_line(const stage_stats& s) {
    using namespace units;
    std::string label = in_one_line(s.name);
    if (s.concurrency > 1) label += "[" + std::to_string(s.concurrency) + "]";
    return "[" + label + "]\tCompleted " + right(std::to_string(s.num_tasks), 5) + " tasks (" +
           right(std::to_string(s.num_failures), 3) + " failed). Ave task time: " + log_time(s.ave_time()) +
           ". P90: " + log_quantile(s.task_times, 0.90) + ". P99: " + log_quantile(s.task_times, 0.99) +
           ".\n";
}

inline std::string current_line(const channel_stats& c) {
    using namespace units;
    // Rounded down, as in SPDL (another library for loading data): 100 % means all of the time. Without the
    // small addend, a readiness of 0.44 would become 43 %, because it is computed as 1 - 0.56.
    const auto occupancy = static_cast<int>(100 * c.readiness() + 1e-9);
    return "[" + in_one_line(c.name) + "_queue]\tProcessed " + right(std::to_string(c.num_get), 5) +
           " items in " + log_time(c.elapsed) + " (QPS: " + right(fixed(c.rate(), 1), 6) +
           ") Ave wait time: put: " + log_time(c.ave_put_wait()) +
           ", get (by next stage): " + log_time(c.ave_get_gap()) +
           ". P90: put: " + log_quantile(c.put_waits, 0.90) + ", get: " + log_quantile(c.get_waits, 0.90) +
           ". P99: put: " + log_quantile(c.put_waits, 0.99) + ", get: " + log_quantile(c.get_waits, 0.99) +
           ". Occupancy rate: " + std::to_string(occupancy) + "%\n";
}

// \returns a duration as `log_style::document` shows it: four decimals, in ms below 1 s. Below 100 ns, where
//          no digit would be left, it is in ns.
inline std::string document_time(duration d, bool unit_to_the_left) {
    const std::int64_t ns = d.count();
    const bool tiny = ns > 0 && ns < 100;
    const char* const unit = tiny ? "ns" : ns < 1'000'000'000 ? "ms" : "sec";
    const double scale = tiny ? 1 : ns < 1'000'000'000 ? 1e6 : 1e9;
    return units::fixed(static_cast<double>(ns) / scale, 4) + " [" +
           (unit_to_the_left ? units::left(unit, 3) : units::right(unit, 3)) + "]";
}

inline std::string document_line(const stage_stats& s) {
    using namespace units;
    return "[" + in_one_line(s.name) + "]\tCompleted " + right(std::to_string(s.num_tasks), 5) + " tasks (" +
           right(std::to_string(s.num_failures), 3) + " failed) in " + document_time(s.elapsed, false) +
           ". QPS: " + fixed(s.rate(), 2) + " (Concurrency: " + right(std::to_string(s.concurrency), 3) +
           "). Average task time: " + document_time(s.ave_time(), false) + ".\n";
}

// \returns the line of a sink. `in`: the queue before the sink, or null; `out`: the queue behind the sink.
inline std::string document_line(const stage_stats& sink, const channel_stats* in, const channel_stats& out) {
    using namespace units;
    const duration upstream = in == nullptr ? duration(0) : in->ave_get_wait();
    return "[" + in_one_line(sink.name) + "]\tProcessed " + right(std::to_string(out.num_put), 5) +
           " items in " + document_time(sink.elapsed, true) +
           ". QPS: " + fixed(per_second(out.num_put, sink.elapsed), 2) +
           ". Average wait time: Upstream: " + document_time(upstream, true) +
           ", Downstream: " + document_time(out.ave_put_wait(), true) + ".\n";
}

inline std::vector<const channel_stats*> queues_at(const pipeline_stats& stats,
                                                   const std::vector<std::size_t>& places) {
    std::vector<const channel_stats*> queues;
    for (const std::size_t i : places) {
        if (i < stats.channels.size()) queues.push_back(&stats.channels[i]);
    }
    return queues;
}

// \returns all lines of a report but the verdict.
inline std::string log_of_figures(const pipeline_stats& stats, log_style style) {
    std::string text;
    for (const stage_stats& stage : stats.stages) {
        const auto before = queues_at(stats, stage.inputs);
        const auto behind = queues_at(stats, stage.outputs);
        if (style == log_style::current) {
            if (has_tasks(stage)) text += current_line(stage);
            for (const channel_stats* queue : behind) text += current_line(*queue);
        } else if (has_tasks(stage)) {
            text += document_line(stage);
        } else if (stage.kind == "sink" && !behind.empty()) {
            text += document_line(stage, before.empty() ? nullptr : before[0], *behind[0]);
        }
    }
    const bool begins = stats.first_item && stats.first_item->num_items < stats.num_items;
    if (style == log_style::current && begins) text += "[pipeline]\t" + first_item_text(stats) + "\n";
    const std::string idle = style == log_style::current ? idle_text(stats.idle) : std::string();
    if (!idle.empty()) text += "[pipeline]\t" + idle + "\n";
    if (style == log_style::current && stats.process)
        text += "[process]\t" + line_text(*stats.process) + "\n";
    return text;
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE std::string log_text(const pipeline_stats& stats, log_style style) {
    std::string text = detail::log_of_figures(stats, style);
    if (style == log_style::current) {
        if (const auto v = detail::cheap_verdict(stats)) text += detail::verdict_line(*v);
    }
    return text;
}

WEIR_INLINE void log_lines(std::ostream& out, const pipeline_stats& stats, log_style style) {
    detail::write_text(out, log_text(stats, style));
}

WEIR_INLINE void log_sink::operator()(const pipeline_stats& lap) {
    std::string text = detail::log_of_figures(lap, style_);
    if (style_ == log_style::current) {
        if (const auto& v = verdict_.add(lap)) text += detail::verdict_line(*v);
    }
    detail::write_text(*out_, text);
    out_->flush();
}

WEIR_INLINE failure_log::failure_log(std::ostream& out, failure_log_options options)
    : shared_(std::make_shared<shared>(out, options)) {
    detail::refuse_if(options.every == 0,
                      "weir: a failure_log writes every n-th failure of a kind, and n has to be 1 or more");
    detail::refuse_if(detail::was_negative(options.first) || detail::was_negative(options.every) ||
                          detail::was_negative(options.most_kinds),
                      "weir: a number in the options of a failure_log was negative");
}

WEIR_INLINE void failure_log::operator()(const failure& f) const {
    const std::string stage = detail::in_one_line(f.stage);
    const std::string message = detail::in_one_line(f.message());
    std::string name = stage + '\n' + detail::error_type(f.error) + '\n' + message.substr(0, longest_key);
    const std::lock_guard guard(shared_->lock);
    kind& k = shared_->kind_of(std::move(name), stage, message);
    ++k.count;
    ++k.not_shown;  // until the line is written
    const failure_log_options& options = shared_->options;
    if (k.count > options.first && (k.count - options.first) % options.every != 0) {
        return;
    }
    std::string line = "[" + stage + "] item " + std::to_string(f.item) + " failed: " + message;
    if (k.count > options.first) {
        line += " (failure " + std::to_string(k.count) + " of this kind";
        if (k.not_shown > 1) line += ", " + std::to_string(k.not_shown - 1) + " not shown";
        line += ")";
    }
    if (shared_->write(std::move(line))) k.not_shown = 0;
}

WEIR_INLINE void failure_log::summary() const {
    const std::lock_guard guard(shared_->lock);
    for (kind* const k : shared_->oldest_first) {
        if (k->not_shown == 0) continue;
        const bool written = shared_->write("[" + k->stage + "] " + std::to_string(k->not_shown) +
                                            " more not shown: " + k->message);
        if (written) k->not_shown = 0;
    }
    shared_->out.flush();
}

WEIR_INLINE auto failure_log::shared::kind_of(std::string&& name, const std::string& stage,
                                              const std::string& message) -> kind& {
    const auto found = kinds.find(name);
    if (found != kinds.end()) return found->second;
    const bool known = kinds.size() < options.most_kinds;
    if (!known) name.clear();
    // Allocated before the map is changed, so that an exception leaves map and vector as they were.
    if (oldest_first.size() == oldest_first.capacity()) {
        oldest_first.reserve(2 * oldest_first.size() + 8);
    }
    kind fresh;
    fresh.stage = known ? stage : "other";
    fresh.message = known ? message.substr(0, longest_key) : "failures of other kinds";
    const auto [at, is_new] = kinds.try_emplace(std::move(name), std::move(fresh));
    if (is_new) oldest_first.push_back(&at->second);
    return at->second;
}

WEIR_INLINE bool failure_log::shared::write(std::string&& line) {
    line += '\n';
    out.write(line.data(), static_cast<std::streamsize>(line.size()));
    return out.good();
}

}  // namespace weir

#endif
