// weir report: statistics as lines of a log, in the formats of the documents
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LOG_HPP
#define WEIR_REPORT_LOG_HPP

#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/report/line.hpp>

#include <cstddef>  // for std::size_t
#include <ostream>  // for std::ostream
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir {

/// Which of the two formats that users of such pipelines know.
enum class log_style {
    current,   ///< one line for each stage that has tasks and one for each queue, and one on the process
    document,  ///< the older one: one line for each stage that has tasks and one for the sink
};

namespace detail {

// A source's and a sink's work is to put and to get: their queues' lines tell of it.
[[nodiscard]] inline bool has_tasks(const stage_stats& s) { return s.kind != "source" && s.kind != "sink"; }

// As wide as the time that stands there if it is known.
[[nodiscard]] inline std::string log_quantile(const histogram& h, double q) {
    return h.has_quantiles() ? units::log_time(h.quantile(q)) : units::right("-", 12);
}

[[nodiscard]] inline std::string current_line(const stage_stats& s) {
    using namespace units;
    std::string label = s.name;
    if (s.concurrency > 1) label += "[" + std::to_string(s.concurrency) + "]";
    return "[" + label + "]\tCompleted " + right(std::to_string(s.num_tasks), 5) + " tasks (" +
           right(std::to_string(s.num_failures), 3) + " failed). Ave task time: " + log_time(s.ave_time()) +
           ". P90: " + log_quantile(s.task_times, 0.90) + ". P99: " + log_quantile(s.task_times, 0.99) +
           ".\n";
}

[[nodiscard]] inline std::string current_line(const channel_stats& c) {
    using namespace units;
    // The documents cut the occupancy rate to whole percents: only all of the time is 100 %. What
    // is added keeps 0.57, which 1 - 0.43 falls a little short of, from being cut to 56 %.
    const auto occupancy = static_cast<int>(100 * c.readiness() + 1e-9);
    return "[" + c.name + "_queue]\tProcessed " + right(std::to_string(c.num_get), 5) + " items in " +
           log_time(c.elapsed) + " (QPS: " + right(fixed(c.rate(), 1), 6) +
           ") Ave wait time: put: " + log_time(c.ave_put_wait()) +
           ", get (by next stage): " + log_time(c.ave_get_gap()) +
           ". P90: put: " + log_quantile(c.put_waits, 0.90) + ", get: " + log_quantile(c.get_waits, 0.90) +
           ". P99: put: " + log_quantile(c.put_waits, 0.99) + ", get: " + log_quantile(c.get_waits, 0.99) +
           ". Occupancy rate: " + std::to_string(occupancy) + "%\n";
}

// The documents' older way to write a duration: ms below 1 s, four decimals. Tens of nanoseconds,
// which have no digit left in that, are in ns.
[[nodiscard]] inline std::string document_time(duration d, bool unit_to_the_left) {
    const std::int64_t ns = d.count();
    const bool tiny = ns > 0 && ns < 100;
    const char* const unit = tiny ? "ns" : ns < 1'000'000'000 ? "ms" : "sec";
    const double scale = tiny ? 1 : ns < 1'000'000'000 ? 1e6 : 1e9;
    return units::fixed(static_cast<double>(ns) / scale, 4) + " [" +
           (unit_to_the_left ? units::left(unit, 3) : units::right(unit, 3)) + "]";
}

[[nodiscard]] inline std::string document_line(const stage_stats& s) {
    using namespace units;
    return "[" + s.name + "]\tCompleted " + right(std::to_string(s.num_tasks), 5) + " tasks (" +
           right(std::to_string(s.num_failures), 3) + " failed) in " + document_time(s.elapsed, false) +
           ". QPS: " + fixed(s.rate(), 2) + " (Concurrency: " + right(std::to_string(s.concurrency), 3) +
           "). Average task time: " + document_time(s.ave_time(), false) + ".\n";
}

// `in` is the queue that the sink takes from, `out` the one that it fills.
[[nodiscard]] inline std::string document_line(const stage_stats& sink, const channel_stats* in,
                                               const channel_stats& out) {
    using namespace units;
    const duration upstream = in == nullptr ? duration(0) : in->ave_get_wait();
    return "[" + sink.name + "]\tProcessed " + right(std::to_string(out.num_put), 5) + " items in " +
           document_time(sink.elapsed, true) + ". QPS: " + fixed(per_second(out.num_put, sink.elapsed), 2) +
           ". Average wait time: Upstream: " + document_time(upstream, true) +
           ", Downstream: " + document_time(out.ave_put_wait(), true) + ".\n";
}

[[nodiscard]] inline std::vector<const channel_stats*> queues_at(const pipeline_stats& stats,
                                                                 const std::vector<std::size_t>& places) {
    std::vector<const channel_stats*> queues;
    for (const std::size_t i : places) {
        if (i < stats.channels.size()) queues.push_back(&stats.channels[i]);
    }
    return queues;
}

}  // namespace detail

/// \returns the lines of one report, each with its end of line. In the current style a stage is
///          called `name[c]` if it has c > 1 slots, and a queue `name_queue`; a quantile that is not
///          known is `-`; a line says when the first item came, in the lap in which it did; and one for how
///          long nothing has moved, from 10 s on.
[[nodiscard]] inline std::string log_text(const pipeline_stats& stats, log_style style = log_style::current) {
    std::string text;
    for (const stage_stats& stage : stats.stages) {
        const auto before = detail::queues_at(stats, stage.inputs);
        const auto behind = detail::queues_at(stats, stage.outputs);
        if (style == log_style::current) {
            if (detail::has_tasks(stage)) text += detail::current_line(stage);
            for (const channel_stats* queue : behind) text += detail::current_line(*queue);
        } else if (detail::has_tasks(stage)) {
            text += detail::document_line(stage);
        } else if (stage.kind == "sink" && !behind.empty()) {
            text += detail::document_line(stage, before.empty() ? nullptr : before[0], *behind[0]);
        }
    }
    const bool begins = stats.first_item && stats.first_item->num_items < stats.num_items;
    if (style == log_style::current && begins) text += "[pipeline]\t" + detail::first_item_text(stats) + "\n";
    const std::string idle = style == log_style::current ? detail::idle_text(stats.idle) : std::string();
    if (!idle.empty()) text += "[pipeline]\t" + idle + "\n";
    if (style == log_style::current && stats.process)
        text += "[process]\t" + line_text(*stats.process) + "\n";
    return text;
}

/// Writes the lines of one report at once: a single `write`, so that they stay together where the
/// stream is shared. Neither the stream's locale nor its format flags change them.
/// Errors: those of the stream, if it is to throw.
inline void log_lines(std::ostream& out, const pipeline_stats& stats, log_style style = log_style::current) {
    const std::string text = log_text(stats, style);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

/// Writes a report for each lap: `run_options{.lap = 1s, .on_lap = weir::log_sink(std::clog)}`.
///
/// Lifetime: the stream outlives it. Threads: as the stream; each call is one `write` and a flush.
/// Errors: those of the stream. If it is to throw (`exceptions`), that stops the run, as any exception of
///         `on_lap`; else it goes bad, and what comes after is not written until somebody clears it.
class log_sink {
    std::ostream* out_;
    log_style style_;

  public:
    /// \param style  of the lines.
    explicit log_sink(std::ostream& out, log_style style = log_style::current) noexcept
        : out_(&out), style_(style) {}

    /// For `run_options::on_lap`.
    void operator()(const pipeline_stats& lap) const {
        log_lines(*out_, lap, style_);
        out_->flush();
    }
};

}  // namespace weir

#endif
