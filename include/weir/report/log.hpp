// weir report: statistics and failures as lines of a log; verdicts (what limits a rate) in reports of laps
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LOG_HPP
#define WEIR_REPORT_LOG_HPP

#include <weir/insight/verdict.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/failure.hpp>

#include <cstddef>        // for std::size_t
#include <cstdint>        // for std::uint64_t
#include <memory>         // for std::shared_ptr
#include <mutex>          // for std::lock_guard
#include <optional>       // for std::optional
#include <ostream>        // for std::ostream
#include <string>         // for std::string
#include <unordered_map>  // for std::unordered_map
#include <vector>         // for std::vector

namespace weir::detail {

// \returns the verdict as one line, also if the name of the stage has line breaks:
//          `[verdict]\tcause=stage stage="decode" gain=0.50 sure=1.00: stage 'decode' is the ...`.
[[nodiscard]] std::string verdict_line(const verdict& v);

// \returns the verdict as a JSON object. Unknown values are null.
[[nodiscard]] std::string verdict_json(const verdict& v);

// \returns `brief_verdict(stats)`; none also if this verdict would cost more than 1 % of `stats.elapsed`.
[[nodiscard]] std::optional<verdict> cheap_verdict(const pipeline_stats& stats);

// Keeps the latest verdict (a sentence on what limits the rate), for reports that show a verdict in each lap
// (a part of a run). When the laps since the latest verdict, joined, have a `cheap_verdict`, that verdict
// replaces the latest. Used by one thread at a time.
class recent_verdict {
  public:
    // Adds a lap. Returns the latest verdict, which may be of earlier laps; none: no laps had a verdict yet.
    const std::optional<verdict>& add(const pipeline_stats& lap);

  private:
    pipeline_stats since_;  // the laps since the last verdict
    std::optional<verdict> latest_;
};

}  // namespace weir::detail

namespace weir {

/// The two formats of log lines in SPDL, another library for loading data; its documents explain the lines.
enum class log_style {
    current,   ///< a line for each stage but sources and sinks, for each queue, and for the process
    document,  ///< the older one: a line for each stage but sources, and no other lines
};

/// \returns the lines of one report, each with its line break. In the current style, a stage with c > 1
///          slots (workers) is called `name[c]`, and a queue `name_queue`; an unknown quantile is `-`. Only
///          this style has a line on the first item, if the program got it in the time of `stats`; a line if
///          nothing has moved for 10 s or longer; and as the last line the verdict (what limits the rate),
///          with a tab behind `[verdict]`:
///          `[verdict] cause=stage stage="decode" gain=0.50 sure=1.00: stage 'decode' is the ...`.
///          The verdict is left out if there is no `brief_verdict`, or if it would cost more than 1 % of
///          `stats.elapsed`.
[[nodiscard]] std::string log_text(const pipeline_stats& stats, log_style style = log_style::current);

/// Writes the lines of one report in one call, so that they stay together in a shared stream. The stream's
/// locale and format flags do not matter.
/// Errors: those of the stream, if it throws.
void log_lines(std::ostream& out, const pipeline_stats& stats, log_style style = log_style::current);

/// Writes a report for each lap, a part of a run as long as `run_options::lap`:
/// `run_options{.lap = 1s, .on_lap = weir::log_sink(std::clog)}`.
/// In the current style, the lines of a lap end with the latest verdict (what limits the rate), if there is
/// any. A new verdict, on all laps since the latest verdict, is made when it costs at most 1 % of their time:
/// for five stages, about every 2 s.
///
/// Lifetime: the stream must outlive the sink. Threads: one call at a time, which is one `write` and a flush.
/// Errors: those of the stream. If the stream throws (`exceptions`), the run stops, as for every exception
///         of `on_lap`. Else the stream goes bad, and later lines are not written until its state is cleared.
class log_sink {
    std::ostream* out_;
    log_style style_;
    detail::recent_verdict verdict_;

  public:
    /// \param style  of the lines.
    explicit log_sink(std::ostream& out, log_style style = log_style::current) : out_(&out), style_(style) {}

    /// Writes the report of a lap. The run calls this function when a lap ends: see `run_options::on_lap`.
    void operator()(const pipeline_stats& lap);
};

/// Options of a `failure_log`. Failures are of one kind if the stage, the type of the exception, and the
/// first 400 characters of the message are equal.
struct failure_log_options {
    /// The first `first` failures of a kind are all written.
    std::uint64_t first = 5;
    /// After the first ones, every `every`-th failure of the kind is written; at least 1.
    std::uint64_t every = 100;
    /// The number of kinds to tell apart; all further kinds count as one.
    std::size_t most_kinds = 1000;
};

/// Writes a line for each failure; of failures that repeat, only for some:
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
/// Threads:  any thread may call a log. Each line is one `write`, under a lock. Copies share their state.
/// Lifetime: the stream must outlive the log and its copies.
/// Errors:   `std::bad_alloc`, and those of the stream. If the stream throws (`exceptions`), the run stops,
///           as for every exception of `on_failure`. Else the stream goes bad, and later lines are not
///           written until its state is cleared. A failure whose line could not be written counts as not
///           shown.
/// Cost:     one look-up per failure; per kind, about 100 bytes and two copies of the message, cut to 400
///           characters.
class failure_log {
  public:
    /// Errors: `std::invalid_argument` if `every` is 0, or an option was negative.
    explicit failure_log(std::ostream& out, failure_log_options options = {});

    /// Writes the line of a failure, or only counts the failure. The run calls it: see
    /// `run_options::on_failure`.
    void operator()(const failure& f) const;

    /// Writes a line for each kind that has failures not shown since its last line, the oldest kind first.
    /// Flushes the stream.
    void summary() const;

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
        std::uint64_t not_shown = 0;  // failures without a line since the last line of this kind
    };

    struct shared {
        shared(std::ostream& stream, failure_log_options how) : out(stream), options(how) {}

        kind& kind_of(std::string&& name, const std::string& stage, const std::string& message);
        bool write(std::string&& line);

        detail::standard_platform::mutex lock;  // guards the members below
        std::ostream& out;
        const failure_log_options options;
        std::unordered_map<std::string, kind> kinds;
        std::vector<kind*> oldest_first;
    };

    static constexpr std::size_t longest_key = 400;  // characters of a message that are kept and compared
    std::shared_ptr<shared> shared_;
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/log.ipp>
#endif

#endif
