// weir report: a run as a page of HTML, one file that any browser shows
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_HPP
#define WEIR_REPORT_HTML_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/html_markup.hpp>
#include <weir/report/html_plots.hpp>
#include <weir/report/html_sections.hpp>
#include <weir/report/html_style.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/run_recorder.hpp>
#include <weir/report/run_view.hpp>
#include <weir/report/structure.hpp>
#include <weir/report/svg_graph.hpp>
#include <weir/report/table.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <utility>  // for std::move

namespace weir {

namespace detail {

// Writes the page of the run that `view` shows. Takes laps from `view.laps()` only, so `view.run().laps` may
// be empty.
class html_page {
  public:
    html_page(const run_view& view, std::size_t most_points)
        : run_(view.run()), view_(view), plots_(view_, most_points) {}

    [[nodiscard]] std::string text() const;

  private:
    // Appends the begin of a section, and its heading.
    static void begin(std::string& out, const char* id, const char* title);
    // The name of the run, for headings.
    [[nodiscard]] std::string name() const;

    void append_head(std::string& out) const;

    void append_summary(std::string& out) const;
    // Appends whether the pipeline or its consumer is slower, by SPDL's guide "Is data loading bottleneck?".
    // `last`: the queue from which the consumer takes.
    static void append_reading(std::string& out, const channel_stats& last);

    void append_pipeline(std::string& out) const;

    void append_plots(std::string& out) const;
    // Appends a paragraph in small type.
    static void note(std::string& out, const char* pattern, const auto&... arguments) {
        fill_in(out, "<p class=\"note\">" + std::string(pattern) + "</p>\n", arguments...);
    }

    const run_record& run_;
    const run_view& view_;
    html_plots plots_;
};

// \returns the page of a run. `laps`: the figures of its laps; `run.laps` is not read. If the page gets too
//          large, fewer points are drawn, and then fewer stages.
[[nodiscard]] std::string html_text_of(const run_record& run, const lap_figures& laps);

}  // namespace detail

/// \returns the run as a page of HTML (UTF-8; also well-formed XML). It shows the pipeline as a graph, the
///          time of each stage by state, and plots of six figures over the run that say how to read them;
///          then percentiles, failures and settings. The page loads nothing. It works without scripts, by
///          keyboard, in light and dark, on paper.
/// A page has less than 500 kB. If there is too much to show, it says what it leaves out: a point of a plot
/// stands for several laps, and only the first 128 stages are shown, or fewer if names and texts are long.
/// Errors: `std::bad_alloc`. Cost: a few milliseconds; more with many laps.
[[nodiscard]] std::string html_text(const run_record& run);

/// Writes `html_text(run)` to a file. The file is replaced as a whole or not at all.
/// Errors: `std::system_error`, with the path.
void write_html(const std::string& path, const run_record& run);

/// Writes the page of a run when the run ends:
///
///     const auto page = std::make_shared<weir::html_report>("run.html", "training", weir::describe(loader));
///     auto run = loader.start(pool, {.lap = 1s, .reports = {page}});
///
/// If several runs write to it, one after the other, the page of the last stays. `record()` works at any
/// time.
class html_report : public run_recorder {
  public:
    /// \param made_of  `describe(pipeline)`; without it the page has no types, executors and branches.
    /// \param options  by default, 240 laps are kept, as the page draws no more.
    explicit html_report(std::string path, std::string name = {}, pipeline_description made_of = {},
                         run_recorder_options options = {.most_laps = 240})
        : run_recorder(std::move(name), std::move(made_of), std::move(options)), path_(std::move(path)) {}

    [[nodiscard]] std::string name() const override { return path_; }
    void ends(const pipeline_stats& rest, const pipeline_stats& all) override;

  private:
    std::string path_;
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/html.ipp>
#endif

#endif
