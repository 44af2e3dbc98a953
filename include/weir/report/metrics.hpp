// weir report: statistics as metrics for Prometheus and OpenMetrics: a text, a file, or a callback
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_METRICS_HPP
#define WEIR_REPORT_METRICS_HPP

#include <weir/insight/verdict.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/report/log.hpp>
#include <weir/report/run_record.hpp>
#include <weir/run/run_report.hpp>

#include <functional>  // for std::function
#include <optional>    // for std::optional
#include <string>      // for std::string
#include <vector>      // for std::vector

namespace weir {

/// The text formats of metrics.
enum class metrics_format {
    prometheus,   ///< Prometheus, version 0.0.4
    openmetrics,  ///< OpenMetrics 1.0
};

/// \returns the value of the HTTP header `Content-Type` for a text of that format.
[[nodiscard]] std::string metrics_content_type(metrics_format format);

/// A label, which distinguishes the samples of a run from those of other runs: `{"run", "training"}`.
struct metric_label {
    /// ASCII letters, digits and `_`, beginning with neither a digit nor `__`; and none of the names that the
    /// library reserves for its own labels, such as `stage`.
    std::string name;
    /// Any text; if empty, the label is left out. Null characters, and bytes that are not valid UTF-8, are
    /// written as U+FFFD.
    std::string value;

    [[nodiscard]] friend bool operator==(const metric_label&, const metric_label&) = default;
};

/// Options of a text of metrics.
struct metrics_options {
    /// Labels that every sample gets. If a process has several runs, each run needs another value of a label,
    /// such as `run`.
    std::vector<metric_label> labels = {};
    /// The format of the text.
    metrics_format format = metrics_format::prometheus;
};

/// One of several runs whose metrics are written as one text.
struct labelled_run {
    std::vector<metric_label> labels;  ///< different from the labels of every other run
    pipeline_stats stats;              ///< of the time from the run's start until now
};

/// \param stats  of the time from the run's start until now, because counters count from there:
///               `run.stats()`. Not those of a lap (a part of a run: see `run_options::lap`); `metrics_file`
///               and `metrics_callback` add laps up.
/// \returns all statistics as metrics, each family (metric) in one block with its help and type, and in
///          OpenMetrics its unit: see include/weir/report/README.md. Times are seconds, exact to the
///          nanosecond. Samples of a stage have the labels `stage`, `position` (the stage's index in
///          `pipeline_stats::stages`) and `kind`; samples of a queue have `queue` and `position`. Unknown
///          values are left out. The verdict (what limits the rate), `weir_run_verdict`, has the label
///          `cause` and, if it names a stage, `stage`. The function `brief_verdict` makes the verdict. The
///          verdict is left out if `brief_verdict` returns none, as for a run of few items, or if it would
///          take longer than 1 % of `stats.elapsed`.
///
/// All histograms have the same bounds: the last nanosecond before each power of two from 2^10 ns (1.023 us,
/// not 1.024) to 2^40 (18 min). Buckets of `weir::histogram` end there, so each count is exact. If the run
/// keeps no quantiles (statistics policy `summed`), all durations are in the bucket without a bound.
/// Errors: `std::invalid_argument` if the name of a label is invalid, is given twice, or belongs to the
///         library.
/// Cost: 40 us for each stage with its queue; and 10 to 20 ms for the verdict of a run of five stages.
[[nodiscard]] std::string metrics_text(const pipeline_stats& stats, const metrics_options& options = {});

/// \returns the metrics of several runs as one text, for a scraper that gets one answer.
/// Errors: those of `metrics_text` for one run; `std::invalid_argument` also for two runs with the same
/// labels.
[[nodiscard]] std::string metrics_text(const std::vector<labelled_run>& runs,
                                       metrics_format format = metrics_format::prometheus);

namespace detail {

// The base of `metrics_file` and `metrics_callback`. Adds up the laps: counters count from the run's start.
class metrics_report : public run_report {
  public:
    WEIR_INLINE void begins(const pipeline_stats& all) final;
    WEIR_INLINE void lap(const pipeline_stats& one) final;
    WEIR_INLINE void ends(const pipeline_stats& rest, const pipeline_stats& all) final;

  protected:
    explicit metrics_report(metrics_options options);

  private:
    // Gets the text after each update, to write it or to pass it to the user's function.
    virtual void take(const std::string& text) = 0;
    void update(pipeline_stats all, const std::optional<verdict>& why);

    const metrics_options options_;
    pipeline_stats so_far_;
    recent_verdict recent_;
};

}  // namespace detail

/// Keeps a file with the metrics of a run. The textfile collector of Prometheus's node exporter reads the
/// files in its folder that end with `.prom`, in the format `prometheus`:
///
///     auto metrics = std::make_shared<weir::metrics_file>("/var/lib/node_exporter/training.prom");
///     auto run = loader.start(pool, {.lap = 15s, .reports = {metrics}});
///
/// The file is replaced as a whole when the run begins, at the end of each lap and when the run ends; a
/// reader never sees half of a file. The last file stays. Each process, and each of several runs at the same
/// time, needs its own file, and a label that tells its samples from others.
///
/// Errors: if the file can't be written, the function set by `set_report_warning` is called with path and
///         reason. The run goes on without this report.
/// Cost:   about 40 us and 12 kB of text per lap for each stage with its queue. Verdicts during the run take
///         at most 1 % of the run's elapsed time. A verdict is on the laps since the last verdict; the
///         verdict at the end is on the whole run.
class metrics_file final : public detail::metrics_report {
  public:
    /// Errors: `std::invalid_argument` for an empty path, and for labels as in `metrics_text`.
    explicit metrics_file(std::string path, metrics_options options = {});
    [[nodiscard]] std::string name() const override { return path_; }

  private:
    void take(const std::string& text) override { detail::output_file::replace(path_, text); }

    const std::string path_;
};

/// Calls a function with the metrics of a run when the run begins, at the end of each lap and when the run
/// ends. The function may store the text for an HTTP server, or push it to a gateway.
///
/// Errors:  if the function throws, the function set by `set_report_warning` is called. The run goes on
///          without this report.
/// Threads: one call at a time: the first by the thread that starts the run, the others by its executor's
///          threads.
/// Cost:    as `metrics_file`, without the file.
class metrics_callback final : public detail::metrics_report {
  public:
    /// Errors: `std::invalid_argument` for an empty function, and for labels as in `metrics_text`.
    explicit metrics_callback(std::function<void(const std::string& text)> take,
                              metrics_options options = {});
    [[nodiscard]] std::string name() const override { return "the callback of metrics"; }

  private:
    void take(const std::string& text) override { take_(text); }

    const std::function<void(const std::string& text)> take_;
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/metrics.ipp>
#endif

#endif
