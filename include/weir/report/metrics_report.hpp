// weir report: the metrics of a run while it goes on, in a file or handed to a function
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_METRICS_REPORT_HPP
#define WEIR_REPORT_METRICS_REPORT_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/report/laps.hpp>
#include <weir/report/metrics.hpp>
#include <weir/run/run_report.hpp>

#include <functional>  // for std::function
#include <stdexcept>   // for std::invalid_argument
#include <string>      // for std::string
#include <utility>     // for std::move

namespace weir {

namespace detail {

// A lap has what is new; a counter counts from the start.
class metrics_report : public run_report {
  public:
    void begins(const pipeline_stats& all) final { tell(all); }
    void lap(const pipeline_stats& one) final { tell(joined(so_far_, one)); }
    void ends(const pipeline_stats&, const pipeline_stats& all) final { tell(all); }

  protected:
    explicit metrics_report(metrics_options options) : options_(std::move(options)) {
        check_labels(options_.labels);
    }

  private:
    virtual void take(const std::string& text) = 0;
    void tell(pipeline_stats all) {
        so_far_ = std::move(all);
        take(metrics_text(so_far_, options_));
    }

    const metrics_options options_;
    pipeline_stats so_far_;
};

}  // namespace detail

/// Keeps a file with a run's metrics, for the textfile collector of Prometheus's node exporter, which reads
/// what ends in `.prom` in its folder, in the format `prometheus`:
///
///     auto metrics = std::make_shared<weir::metrics_file>("/var/lib/node_exporter/training.prom");
///     auto run = loader.start(pool, {.lap = 15s, .reports = {metrics}});
///
/// Written anew when the run begins, at each lap and when it ends; who reads it sees one of these whole. The
/// last one stays, and is collected until somebody removes it. Processes, and runs that go on at the same
/// time, take a file each, and a label that tells them apart.
///
/// Errors: of a path that can't be written, a disk that is full or a pipe that nobody reads the
///         `report_warning` is told, by path and reason; that run goes on, and writes no more.
/// Cost:   a lap some 40 us for each stage with its queue, and 12 kB of text.
class metrics_file final : public detail::metrics_report {
  public:
    /// Errors: `std::invalid_argument` of a path that is empty, and of labels, as `metrics_text`.
    explicit metrics_file(std::string path, metrics_options options = {})
        : metrics_report(std::move(options)), path_(std::move(path)) {
        if (path_.empty())
            throw std::invalid_argument(
                "weir: a metrics_file needs the path of a file, as \"training.prom\"");
    }
    [[nodiscard]] std::string name() const override { return path_; }

  private:
    void take(const std::string& text) override { detail::output_file::replace(path_, text); }

    const std::string path_;
};

/// Gives a function the text of a run's metrics when it begins, at each lap and when it ends, to be served or
/// pushed by whatever the program has for that.
///
/// Errors:  of an exception from the function the `report_warning` is told; that run goes on, and calls it no
///          more.
/// Threads: it is called by one at a time, at the begin by the one that starts the run, later by the
///          executor's.
/// Cost:    as `metrics_file`, without the file.
class metrics_callback final : public detail::metrics_report {
  public:
    /// Errors: `std::invalid_argument` of a function that is empty, and of labels, as `metrics_text`.
    explicit metrics_callback(std::function<void(const std::string& text)> take, metrics_options options = {})
        : metrics_report(std::move(options)), take_(std::move(take)) {
        if (!take_)
            throw std::invalid_argument("weir: a metrics_callback needs a function that takes a std::string");
    }
    [[nodiscard]] std::string name() const override { return "the callback of metrics"; }

  private:
    void take(const std::string& text) override { take_(text); }

    const std::function<void(const std::string& text)> take_;
};

}  // namespace weir

#endif
