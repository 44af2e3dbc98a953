// weir report, internal: bodies of the functions of report/html.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_IPP
#define WEIR_REPORT_HTML_IPP

#include <weir/report/html.hpp>

#include <weir/insight/verdict.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/html_markup.hpp>
#include <weir/report/html_plots.hpp>
#include <weir/report/html_sections.hpp>
#include <weir/report/html_style.hpp>
#include <weir/report/run_view.hpp>
#include <weir/report/svg_graph.hpp>
#include <weir/report/table.hpp>

#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional

namespace weir::detail {

// Writes the page of the run that `view` shows. Takes laps (parts of the run) from `view.laps()` only, so
// `view.run().laps` may be empty.
class html_page {
  public:
    // `why`: the verdict, which says why the pipeline is not faster, and what would help; none: the page
    // shows no verdict. `view` and `why` outlive the object.
    html_page(const run_view& view, const std::optional<verdict>& why, std::size_t most_points)
        : run_(view.run()), view_(view), verdict_(why), plots_(view_, most_points) {}

    [[nodiscard]] std::string text() const {
        std::string out;
        append_head(out);
        append_summary(out);
        fill_in(out, R"(<main id="main" data-t="{}" data-u="{}">
)",
                plots_.bounds(), plots_.unit());
        append_pipeline(out);
        append_ranks(out, view_);
        append_plots(out);
        begin(out, "percentiles", "Percentiles");
        append_percentiles(out, view_);
        out += "</section>\n";
        append_transfers(out, view_);
        begin(out, "failures", "Failures");
        append_failures(out, view_);
        append_discards(out, view_);
        out += "</section>\n";
        begin(out, "settings", "Settings of the run");
        append_settings(out, view_);
        const std::string& weir = run_.build.weir;
        fill_in(out, R"(</section>
</main>
<footer class="soft"><p>Made by weir{}. This file is whole: it loads nothing, and sends nothing.</p></footer>
)",
                weir.empty() ? "" : " " + shortened(weir, 40));
        return out += std::string("<script>") + html_script + "</script>\n</body>\n</html>\n";
    }

  private:
    // Appends the opening tag of a section, and its heading.
    static void begin(std::string& out, const char* id, const char* title) {
        fill_in(out, R"(<section aria-labelledby="{}"><h2 id="{}">{}</h2>
)",
                id, id, title);
    }
    // The name of the run, or a general title if the run has no name.
    [[nodiscard]] std::string name() const {
        return run_.name.empty() ? "A run of a pipeline" : shortened(run_.name, long_text);
    }

    void append_head(std::string& out) const {
        fill_in(out,
                R"(<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; )"
                R"(script-src 'unsafe-inline'"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>{}</title>
<style>)",
                shortened(name(), 80));
        out += html_style;
        for (const auto& state : states_in_reports)
            fill_in(out, ".st-{} { --state: {}; }\n", state.name, state.colour);
        (out += "</style>\n</head>\n<body>\n") += html_marks;
    }

    void append_summary(std::string& out) const {
        const std::string& host = run_.machine.host;
        fill_in(out, R"(<a class="skip" href="#main">To the pipeline</a>
<header>
<h1><bdi>{}</bdi></h1>
)",
                name());
        if (verdict_)
            fill_in(out, "<p class=\"verdict\"><b>Verdict:</b> {}.</p>\n",
                    shortened(verdict_->sentence, 2 * long_text));
        fill_in(out, R"(<p class="soft">{}{}{}{}{}</p>
)",
                run_.started.empty() ? "" : "Started " + shortened(run_.started, 40),
                host.empty() ? "" : " on " + shortened(host, 60),
                run_.started.empty() && host.empty() ? "" : ".",
                run_.ended ? "" : " It still went on when this was written, or its process was killed.",
                run_.outcome.empty() ? "" : " Outcome: " + shortened(run_.outcome, long_text) + ".");
        out += R"(<nav aria-label="Parts of this page"><ul><li><a href="#pipeline">Pipeline</a></li>)"
               R"(<li><a href="#time">Time per stage</a></li><li><a href="#plots">Over the run</a></li>)"
               R"(<li><a href="#percentiles">Percentiles</a></li><li><a href="#failures">Failures</a></li>)"
               R"(<li><a href="#settings">Settings</a></li></ul></nav>
<ul class="facts">
)";
        const auto fact = [&out](const std::string& value, const char* what, bool bad = false) {
            out += bad ? "<li class=\"bad\">" : "<li>";
            fill_in(out, "<b>{}</b> <span>{}</span></li>\n", value, what);
        };
        fact(run_.total.elapsed == duration(0) ? "0 s" : time_markup(run_.total.elapsed), "elapsed");
        if (const auto& first = run_.total.first_item; first) {
            fact(first->after == duration(0) ? "0 s" : time_markup(first->after), "to the first item");
            fact(first->since <= duration(0) ? "–" : units::rate(first->rate()), "items a second since then");
        }
        if (!idle_text(run_.total.idle).empty())
            fact(time_markup(run_.total.idle), "for which nothing had moved", true);
        const channel_stats* const last = view_.last_queue();
        if (last != nullptr) {
            fact(units::count(last->num_get), "items your program took");
            fact(units::rate(last->rate()), "of them a second");
            fact(last->num_get == 0 ? "–" : time_markup(last->ave_get_gap()),
                 "wait for each: the get time of the sink");
            fact(units::percent(last->readiness()), "of the time the next one was ready");
        }
        fact(units::count(view_.num_failures()), "items failed", view_.num_failures() != 0);
        out += "</ul>\n";
        if (last != nullptr && last->num_get != 0) append_slower_side(out, *last);
        out += "</header>\n";
    }
    // Appends whether the pipeline or its consumer (the code that takes the results) is slower, by the guide
    // "Is data loading bottleneck?" of SPDL, another library for loading data. `last`: the queue from which
    // the consumer takes.
    void append_slower_side(std::string& out, const channel_stats& last) const {
        const duration get = last.ave_get_gap();
        const duration put = last.ave_put_wait();
        const bool slow = get > put;
        fill_in(
            out,
            "<p class=\"verdict\"><b>{}</b> For each item your program waited {} to get it, and the pipeline "
            "{} for room to put it: the one that waits longer is faster than the other. {}</p>\n",
            slow ? "Your program waits for the pipeline." : "The pipeline keeps up with your program.",
            time_markup(get), time_markup(put),
            verdict_ ? ""
            : slow   ? "Look for the first stage, from the sink upwards, that is at work or awaiting nearly "
                       "all of the time."
                     : "To be faster, the program itself has to be.");
    }

    void append_pipeline(std::string& out) const {
        const svg_graph graph(view_);
        out += graph.is_narrow() ? "<div class=\"two\">\n" : "<div>\n";
        begin(out, "pipeline", "Pipeline");
        if (view_.num_stages() == 0) {
            out += "<p>This run has no stages on record.</p></section>\n";
        } else {
            fill_in(out,
                    "<p>Each stage has the colour of the state in which its slots were most of the time; the "
                    "bar inside has all of them. At each arrow: for which share of the time the queue had "
                    "data ready.</p>\n"
                    R"(<figure class="scroll{}" role="region" aria-label="The pipeline as a graph">
)",
                    graph.is_tall() ? " tall" : "");
            graph.append_to(out);
            out += "</figure></section>\n";
        }
        begin(out, "time", "Time per stage");
        if (view_.num_stages() != 0) {
            out += "<p>Where the time of each stage's slots went, in shares of all of it.</p>\n";
            append_states(out);
            append_bars(out, view_);
        }
        out += "</section>\n</div>\n";
        if (run_.total.stages.size() > view_.num_stages())
            note(out, "The pipeline has {} stages; this page shows the first {}.", run_.total.stages.size(),
                 view_.num_stages());
    }

    void append_plots(std::string& out) const {
        begin(out, "plots", "Over the run");
        out +=
            "<p>A queue is named after the stage before it: <code>sink</code> is the last one, from which "
            "your program takes. Point at a plot, or move its slider, to read all of them at that time; "
            "choose a name to hide its line.</p>\n";
        if (!view_.has_laps())
            note(out,
                 "This run has no laps, so that each figure is that of the whole run. Start it with "
                 "<code>.lap = 1s</code> to see how they change.");
        const std::size_t laps = view_.num_drawn();
        if (const std::size_t points = plots_.num_points(); points < laps)
            note(
                out,
                "The record has {} laps; drawn are {} points, each of {} laps together (the last one of what "
                "is left). Tasks are counted a lap, on average.",
                laps, points, (laps + points - 1) / points);
        if (laps < view_.laps().size())
            note(out,
                 "Not drawn are the last {}, which are no whole lap; they are in the figures of the whole "
                 "run.",
                 time_markup(view_.laps().start_of(laps + 1) - view_.laps().start_of(laps)));
        plots_.append_to(out);
        out += "</section>\n";
    }
    // Appends a paragraph in small type.
    static void note(std::string& out, const char* pattern, const auto&... arguments) {
        fill_in(out, "<p class=\"note\">" + std::string(pattern) + "</p>\n", arguments...);
    }

    const run_record& run_;
    const run_view& view_;
    const std::optional<verdict>& verdict_;
    html_plots plots_;
};

// \returns the page of a run. `laps`: the figures of the run's laps; `run.laps` is not read. If the page is
//          larger than `most`, fewer points are drawn, and then fewer stages.
inline std::string html_text_of(const run_record& run, const lap_figures& laps) {
    constexpr std::size_t most = 490'000;
    const std::optional<verdict> why = brief_verdict(run.total);
    std::string page;
    for (std::size_t stages = run_view::most_stages; stages > 0; stages /= 2) {
        const run_view view(run, laps, stages);
        for (std::size_t points = 240; points >= 20; points = points * 2 / 3) {
            page = html_page(view, why, points).text();
            if (page.size() < most) return page;
        }
    }
    return page;
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE std::string html_text(const run_record& run) {
    detail::lap_figures laps(detail::run_view::most_stages);
    for (const pipeline_stats& lap : run.laps) laps.add(lap);
    return detail::html_text_of(run, laps);
}

WEIR_INLINE void write_html(const std::string& path, const run_record& run) {
    detail::output_file::replace(path, weir::html_text(run));
}

WEIR_INLINE void html_report::ends(const pipeline_stats& rest, const pipeline_stats& all) {
    run_recorder::ends(rest, all);
    detail::lap_figures laps(detail::run_view::most_stages);
    each_lap([&laps](const pipeline_stats& one) { laps.add(one); });
    detail::output_file::replace(path_, detail::html_text_of(without_laps(), laps));
}

}  // namespace weir

#endif
