// weir report: a run as a page that any browser shows: one file that needs nothing else
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_HPP
#define WEIR_REPORT_HTML_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/report/html_page.hpp>
#include <weir/report/quantity.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/run_recorder.hpp>
#include <weir/report/run_view.hpp>
#include <weir/report/structure.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <utility>  // for std::move

namespace weir {

namespace detail {

// `run` may lack its laps. The more there is to show, the less of each is drawn.
[[nodiscard]] inline std::string html_text_of(const run_record& run, const lap_figures& laps) {
    constexpr std::size_t most = 490'000;
    std::string page;
    for (std::size_t stages = run_view::most_stages; stages > 0; stages /= 2) {
        const run_view view(run, laps, stages);
        for (std::size_t points = 240; points >= 20; points = points * 2 / 3) {
            page = html_page(view, points).text();
            if (page.size() < most) return page;
        }
    }
    return page;
}

}  // namespace detail

/// \returns the run as a page of HTML (UTF-8; well-formed XML, too), of less than 500 kB whatever is in the
///          run: the pipeline as a graph, where each stage's time went, average time, tasks, rate, data
///          readiness, get and put time over the run with what they mean, percentiles, failures, settings. It
///          loads nothing, and is read without scripts, in light and in dark, by keyboard and on paper.
/// What would be too much is left out, and the page says so: of many laps several are one point of a line; of
/// more than 128 stages the first ones are shown, or fewer where names and texts are long.
/// Errors: `std::bad_alloc`. Cost: some milliseconds, more with many laps.
[[nodiscard]] inline std::string html_text(const run_record& run) {
    detail::lap_figures laps(detail::run_view::most_stages);
    for (const pipeline_stats& lap : run.laps) laps.add(lap);
    return detail::html_text_of(run, laps);
}

/// Writes `html_text(run)` to a file, whole or not at all.
/// Errors: `std::system_error`, with the path.
inline void write_html(const std::string& path, const run_record& run) {
    detail::output_file::replace(path, weir::html_text(run));
}

/// Writes the page of a run when that ends:
///
///     const auto page = std::make_shared<weir::html_report>("run.html", "training", weir::describe(loader));
///     auto run = loader.start(pool, {.lap = 1s, .reports = {page}});
///
/// Of several runs, one after the other, the last one's page stays. As a `run_recorder` it may be asked
/// before.
class html_report : public run_recorder {
  public:
    /// \param made_of  `describe(pipeline)`; without, the page has no types, executors and branches.
    /// \param options  with at most 240 laps kept if nothing else is said: no more are drawn.
    explicit html_report(std::string path, std::string name = {}, pipeline_description made_of = {},
                         run_recorder_options options = {.most_laps = 240})
        : run_recorder(std::move(name), std::move(made_of), std::move(options)), path_(std::move(path)) {}

    [[nodiscard]] std::string name() const override { return path_; }
    void ends(const pipeline_stats& rest, const pipeline_stats& all) override {
        run_recorder::ends(rest, all);
        detail::lap_figures laps(detail::run_view::most_stages);
        each_lap([&laps](const pipeline_stats& one) { laps.add(one); });
        detail::output_file::replace(path_, detail::html_text_of(without_laps(), laps));
    }

  private:
    std::string path_;
};

}  // namespace weir

#endif
