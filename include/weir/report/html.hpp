// weir report: a run as a page of HTML, one file that any browser shows
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_HPP
#define WEIR_REPORT_HTML_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/config.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/run_recorder.hpp>
#include <weir/report/structure.hpp>

#include <string>   // for std::string
#include <utility>  // for std::move

namespace weir {

/// \returns the run as a page of HTML (UTF-8; also well-formed XML). The first sentence is the verdict (what
///          limits the rate), if `brief_verdict` has one. Then come the pipeline as a graph, the time of each
///          stage by state, six plots over the run with explanations, percentiles, failures and settings.
///          Ranks and copies to a device are shown if there are any. The page loads nothing. It works without
///          scripts, by keyboard, in light and dark, on paper.
/// A page has less than 500 kB. If there is too much to show, the page says what is left out: a point of a
/// plot stands for several laps (parts of the run: see `run_options::lap`), and only the first 128
/// stages are shown, or fewer if names and texts are long.
/// Errors: `std::bad_alloc`. Cost: that of `brief_verdict`, and a few milliseconds; more with many laps.
[[nodiscard]] std::string html_text(const run_record& run);

/// Writes `html_text(run)` to a file. The file is replaced as a whole or not at all.
/// Errors: `std::system_error`, with the path.
void write_html(const std::string& path, const run_record& run);

/// Writes the page of a run when the run ends:
///
///     const auto page = std::make_shared<weir::html_report>("run.html", "training", weir::describe(loader));
///     auto run = loader.start(pool, {.lap = 1s, .reports = {page}});
///
/// If several runs use the report, one after the other, the file has the page of the last run. `record()` of
/// the base class can be called at any time. If the file can't be written, the function set by
/// `set_report_warning` is called.
class html_report : public run_recorder {
  public:
    /// \param made_of  `describe(pipeline)`; without it the page has no types, executors and branches.
    /// \param options  by default, 240 laps are kept, as a plot has at most 240 points.
    explicit html_report(std::string path, std::string name = {}, pipeline_description made_of = {},
                         run_recorder_options options = {.most_laps = 240})
        : run_recorder(std::move(name), std::move(made_of), std::move(options)), path_(std::move(path)) {}

    [[nodiscard]] std::string name() const override { return path_; }
    WEIR_INLINE void ends(const pipeline_stats& rest, const pipeline_stats& all) override;

  private:
    std::string path_;
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/html.ipp>
#endif

#endif
