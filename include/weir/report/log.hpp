// weir report: statistics and failures as lines of a log
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LOG_HPP
#define WEIR_REPORT_LOG_HPP

#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/platform.hpp>
#include <weir/report/line.hpp>
#include <weir/run/failure.hpp>

#include <cstddef>        // for std::size_t
#include <cstdint>        // for std::uint64_t
#include <memory>         // for std::shared_ptr
#include <mutex>          // for std::lock_guard
#include <ostream>        // for std::ostream
#include <string>         // for std::string
#include <unordered_map>  // for std::unordered_map
#include <utility>        // for std::move
#include <vector>         // for std::vector

namespace weir {

/// The two formats of log lines in SPDL, whose documents explain how to read them.
enum class log_style {
    current,   ///< one line for each stage with tasks, for each queue, and for the process
    document,  ///< the older one: one line for each stage with tasks and for the sink
};

namespace detail {

// Sources and sinks only put and get, which the lines of their queues show.
[[nodiscard]] inline bool has_tasks(const stage_stats& s) { return s.kind != "source" && s.kind != "sink"; }

// \returns the quantile, or `-` in the same width if it is unknown.
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
    // Rounded down, as in SPDL: 100 % means all of the time. The small addend keeps 0.57, computed as 1 -
    // 0.43, from becoming 56 %.
    const auto occupancy = static_cast<int>(100 * c.readiness() + 1e-9);
    return "[" + c.name + "_queue]\tProcessed " + right(std::to_string(c.num_get), 5) + " items in " +
           log_time(c.elapsed) + " (QPS: " + right(fixed(c.rate(), 1), 6) +
           ") Ave wait time: put: " + log_time(c.ave_put_wait()) +
           ", get (by next stage): " + log_time(c.ave_get_gap()) +
           ". P90: put: " + log_quantile(c.put_waits, 0.90) + ", get: " + log_quantile(c.get_waits, 0.90) +
           ". P99: put: " + log_quantile(c.put_waits, 0.99) + ", get: " + log_quantile(c.get_waits, 0.99) +
           ". Occupancy rate: " + std::to_string(occupancy) + "%\n";
}

// \returns a duration in the older format: four decimals, in ms below 1 s. Below 100 ns, where no digit
//          would be left, it is in ns.
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

// `in` is the queue before the sink, `out` the queue behind it.
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

/// \returns the lines of one report, each with its line break. In the current style, a stage with c > 1
///          slots is called `name[c]`, a queue `name_queue`, and an unknown quantile is `-`. The lap of the
///          first item has a line that says when it came. If nothing has moved for 10 s or longer, a line
///          says so.
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

/// Writes the lines of one report in one call, so that they stay together in a shared stream. The stream's
/// locale and format flags do not matter.
/// Errors: those of the stream, if it throws.
inline void log_lines(std::ostream& out, const pipeline_stats& stats, log_style style = log_style::current) {
    detail::write_text(out, log_text(stats, style));
}

/// Writes a report for each lap: `run_options{.lap = 1s, .on_lap = weir::log_sink(std::clog)}`.
///
/// Lifetime: the stream must outlive it. Threads: as the stream; each call is one `write` and a flush.
/// Errors: those of the stream. If the stream throws (`exceptions`), the run stops, as for every exception
///         of `on_lap`. Else the stream goes bad, and later lines are not written until somebody clears it.
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

/// Options of a `failure_log`. Failures are of one kind if stage, type of exception and message are equal.
struct failure_log_options {
    /// The first failures of a kind, which are all written.
    std::uint64_t first = 5;
    /// After those, every n-th failure is written; at least 1.
    std::uint64_t every = 100;
    /// The number of kinds to tell apart; all further kinds count as one.
    std::size_t most_kinds = 1000;
};

/// Writes a line for each failure, but only for some of those that repeat:
///
///     weir::failure_log log(std::clog);
///     auto run = pipeline.start(pool, {.max_failures = weir::unlimited, .on_failure = log});
///     for (auto& batch : run) train(batch);
///     log.summary();
///
///     [read] item 17 failed: no such file
///     [read] item 1250 failed: no such file (failure 105 of this kind, 99 not shown)
///     [read] 42 more not shown: no such file
///
/// Threads:  any thread may call it. Each line is one `write`, under a lock. Copies share their state.
/// Lifetime: the stream must outlive the log and its copies.
/// Errors:   `std::bad_alloc`, and those of the stream. If the stream throws (`exceptions`), the run stops,
///           as for every exception of `on_failure`. Else the stream goes bad, and later lines are not
///           written until somebody clears it. A failure whose line could not be written counts as not
///           shown.
/// Cost:     one look-up per failure; about 100 bytes per kind.
class failure_log {
  public:
    /// Errors: `std::invalid_argument` if `every` is 0, or an option was negative.
    explicit failure_log(std::ostream& out, failure_log_options options = {})
        : shared_(std::make_shared<shared>(out, options)) {
        detail::refuse_if(options.every == 0,
                          "weir: a failure_log writes every n-th failure of a kind, and n has "
                          "to be 1 or more");
        detail::refuse_if(detail::was_negative(options.first) || detail::was_negative(options.every) ||
                              detail::was_negative(options.most_kinds),
                          "weir: a number in the options of a failure_log was negative");
    }

    /// For `run_options::on_failure`.
    void operator()(const failure& f) const {
        const std::string message = one_line(f.message());
        std::string name =
            f.stage + '\n' + detail::error_type(f.error) + '\n' + message.substr(0, longest_key);
        const std::lock_guard guard(shared_->lock);
        kind& k = shared_->kind_of(std::move(name), f.stage, message);
        ++k.count;
        ++k.not_shown;  // until the line is written
        const failure_log_options& options = shared_->options;
        if (k.count > options.first && (k.count - options.first) % options.every != 0) {
            return;
        }
        std::string line = "[" + f.stage + "] item " + std::to_string(f.item) + " failed: " + message;
        if (k.count > options.first) {
            line += " (failure " + std::to_string(k.count) + " of this kind";
            if (k.not_shown > 1) line += ", " + std::to_string(k.not_shown - 1) + " not shown";
            line += ")";
        }
        if (shared_->write(std::move(line))) k.not_shown = 0;
    }

    /// Writes a line for each kind that has failures not shown since its last line, the oldest kind first.
    /// Flushes the stream.
    void summary() const {
        const std::lock_guard guard(shared_->lock);
        for (kind* const k : shared_->oldest_first) {
            if (k->not_shown == 0) continue;
            const bool written = shared_->write("[" + k->stage + "] " + std::to_string(k->not_shown) +
                                                " more not shown: " + k->message);
            if (written) k->not_shown = 0;
        }
        shared_->out.flush();
    }

    /// \returns the number of all failures.
    [[nodiscard]] std::uint64_t count() const {
        const std::lock_guard guard(shared_->lock);
        std::uint64_t all = 0;
        for (const kind* const k : shared_->oldest_first) all += k->count;
        return all;
    }

  private:
    struct kind {
        std::string stage;
        std::string message;
        std::uint64_t count = 0;
        std::uint64_t not_shown = 0;  // since its last line
    };

    struct shared {
        shared(std::ostream& stream, failure_log_options how) : out(stream), options(how) {}

        kind& kind_of(std::string&& name, const std::string& stage, const std::string& message) {
            const auto found = kinds.find(name);
            if (found != kinds.end()) return found->second;
            const bool known = kinds.size() < options.most_kinds;
            if (!known) name.clear();
            // Before the map is changed, so that both are changed or neither.
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
        bool write(std::string&& line) {
            line += '\n';
            out.write(line.data(), static_cast<std::streamsize>(line.size()));
            return out.good();
        }

        detail::standard_platform::mutex lock;  // guards all below
        std::ostream& out;
        const failure_log_options options;
        std::unordered_map<std::string, kind> kinds;
        std::vector<kind*> oldest_first;
    };

    static std::string one_line(std::string text) {
        for (char& c : text) {
            if (c == '\n' || c == '\r') c = ' ';
        }
        return text;
    }

    static constexpr std::size_t longest_key = 400;
    std::shared_ptr<shared> shared_;
};

}  // namespace weir

#endif
