// weir report: statistics as metrics for Prometheus and OpenMetrics: a text, a file, or a callback
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_METRICS_HPP
#define WEIR_REPORT_METRICS_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/metric_families.hpp>
#include <weir/report/run_record.hpp>
#include <weir/run/run_report.hpp>

#include <concepts>     // for std::same_as
#include <cstddef>      // for std::size_t
#include <functional>   // for std::function
#include <iterator>     // for std::begin
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace weir {

/// The text formats of metrics.
enum class metrics_format {
    prometheus,   ///< Prometheus, version 0.0.4
    openmetrics,  ///< OpenMetrics 1.0
};

/// \returns the HTTP header `Content-Type` for such a text.
[[nodiscard]] std::string metrics_content_type(metrics_format format);

/// A label, which tells the samples of a run from others: `{"run", "training"}`.
struct metric_label {
    /// ASCII letters, digits and `_`, beginning with neither a digit nor `__`; not a label of the library.
    std::string name;
    /// Any text. Null characters, and bytes that are not valid UTF-8, are written as U+FFFD.
    std::string value;

    [[nodiscard]] friend bool operator==(const metric_label&, const metric_label&) = default;
};

/// Options of a text of metrics.
struct metrics_options {
    /// Labels that every sample gets. If a process has several runs, each run needs a label of its own:
    /// `run`.
    std::vector<metric_label> labels = {};
    /// The format of the text.
    metrics_format format = metrics_format::prometheus;
};

/// One of several runs whose metrics are written as one text.
struct labelled_run {
    std::vector<metric_label> labels;  ///< not those of another run
    pipeline_stats stats;              ///< from the start of the run
};

namespace detail {

// Labels of the library, which a user's label must not be.
inline constexpr std::string_view metric_labels[] = {"stage",     "position", "kind",    "queue",
                                                     "state",     "resource", "mode",    "type",
                                                     "direction", "le",       "quantile"};

void check_labels(const std::vector<metric_label>& labels);

// \returns the labels sorted by name, as their order means nothing to Prometheus. A label without a value is
//          left out, as Prometheus takes it for none.
[[nodiscard]] std::string labels_text(std::vector<metric_label> labels);

// Writes the metrics of several runs as one text.
class metrics_writer {
    struct labelled {
        std::string labels;
        const pipeline_stats& stats;
    };
    const metrics_format format_;
    std::vector<labelled> runs_;
    std::string text_;

  public:
    explicit metrics_writer(metrics_format format) noexcept : format_(format) {}

    // The statistics must outlive the writer.
    void add(const std::vector<metric_label>& of_run, const pipeline_stats& stats);

    // Both formats want each family in one block, so the outer loop is over families.
    [[nodiscard]] std::string text() &&;

  private:
    template <class T, std::size_t N>
    void write(const metric<T> (&metrics)[N]) {
        for (const metric<T>& m : metrics) {
            metric_samples samples(text_, m.family, format_ == metrics_format::openmetrics);
            for (const labelled& run : runs_) {
                each<T>(run.stats, [&](const T& of, const std::string& own) {
                    samples.begin(run.labels + (run.labels.empty() || own.empty() ? "" : ",") + own);
                    m.add(samples, of);
                });
            }
        }
    }

    // \returns the labels of a stage or queue. Names may be empty or equal; the position tells objects apart.
    static std::string own_labels(std::string_view what, const std::string& name, std::size_t position);
    // Calls `add(object, labels)` for each object of that type in the statistics.
    template <class T, class Add>
    static void each(const pipeline_stats& p, Add add) {
        if constexpr (std::same_as<T, pipeline_stats>) {
            add(p, "");
        } else if constexpr (std::same_as<T, first_item_stats>) {
            if (p.first_item) add(*p.first_item, "");
        } else if constexpr (std::same_as<T, process_stats>) {
            if (p.process) add(*p.process, "");
        } else if constexpr (std::same_as<T, channel_stats>) {
            for (std::size_t i = 0; i < p.channels.size(); ++i)
                add(p.channels[i], own_labels("queue", p.channels[i].name, i));
        } else {
            for (std::size_t i = 0; i < p.stages.size(); ++i) {
                const stage_stats& s = p.stages[i];
                const std::string labels = own_labels("stage", s.name, i) + "," + label_text("kind", s.kind);
                if constexpr (std::same_as<T, stage_stats>) add(s, labels);
                if constexpr (std::same_as<T, added_stats>) s.added ? add(*s.added, labels) : void();
                if constexpr (std::same_as<T, transfer_stats>)
                    s.transfers ? add(*s.transfers, labels) : void();
            }
        }
    }
};

}  // namespace detail

/// \param stats  from the start of a run, because counters count from there: `run.stats()`. Not those of a
///               lap; `metrics_file` and `metrics_callback` add laps up.
/// \returns all statistics as metrics, each family in one block with its help and type, and in OpenMetrics
///          its unit: see include/weir/report/README.md. Times are seconds, exact to the nanosecond. A stage
///          has the labels `stage`, `position` (its index in `pipeline_stats::stages`) and `kind`; a queue
///          has `queue` and `position`. Unknown values are left out.
///
/// All histograms have the same bounds: the last nanosecond before each power of two from 2^10 ns (1.023 us,
/// not 1.024) to 2^40 (18 min). Buckets of `weir::histogram` end there, so each count is exact. If the
/// policy keeps no quantiles, all durations are in the bucket without a bound.
/// Errors: `std::invalid_argument` if the name of a label is invalid, is given twice, or belongs to the
///         library.
[[nodiscard]] std::string metrics_text(const pipeline_stats& stats, const metrics_options& options = {});

/// \returns the metrics of several runs as one text, for a scraper that gets one answer.
/// Errors: `std::invalid_argument`, also for two runs with the same labels.
[[nodiscard]] std::string metrics_text(const std::vector<labelled_run>& runs,
                                       metrics_format format = metrics_format::prometheus);

namespace detail {

// The base of reports that write metrics. It adds up the laps, as counters count from the start of the run.
class metrics_report : public run_report {
  public:
    void begins(const pipeline_stats& all) final { update(all); }
    void lap(const pipeline_stats& one) final { update(joined(so_far_, one)); }
    void ends(const pipeline_stats&, const pipeline_stats& all) final { update(all); }

  protected:
    explicit metrics_report(metrics_options options);

  private:
    virtual void take(const std::string& text) = 0;
    void update(pipeline_stats all);

    const metrics_options options_;
    pipeline_stats so_far_;
};

}  // namespace detail

/// Keeps a file with the metrics of a run. The textfile collector of Prometheus's node exporter reads the
/// files in its folder that end with `.prom`, in the format `prometheus`:
///
///     auto metrics = std::make_shared<weir::metrics_file>("/var/lib/node_exporter/training.prom");
///     auto run = loader.start(pool, {.lap = 15s, .reports = {metrics}});
///
/// The file is replaced as a whole when the run begins, at each lap and when the run ends; a reader never
/// sees half of one. The last file stays until somebody removes it. Processes, and runs at the same time,
/// need a file each, and a label that tells them apart.
///
/// Errors: if the file can't be written, the `report_warning` is called with path and reason. The run goes on
///         without this report.
/// Cost:   about 40 us per lap for each stage with its queue, and 12 kB of text.
class metrics_file final : public detail::metrics_report {
  public:
    /// Errors: `std::invalid_argument` for an empty path, and for labels as in `metrics_text`.
    explicit metrics_file(std::string path, metrics_options options = {});
    [[nodiscard]] std::string name() const override { return path_; }

  private:
    void take(const std::string& text) override { detail::output_file::replace(path_, text); }

    const std::string path_;
};

/// Calls a function with the metrics of a run when the run begins, at each lap and when the run ends. The
/// function may serve the text, or push it.
///
/// Errors:  if the function throws, the `report_warning` is called. The run goes on without this report.
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
