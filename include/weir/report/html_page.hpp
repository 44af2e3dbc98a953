// weir report, internal: the page of a run: what stands where
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_PAGE_HPP
#define WEIR_REPORT_HTML_PAGE_HPP

#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/report/html_plots.hpp>
#include <weir/report/html_script.hpp>
#include <weir/report/html_sections.hpp>
#include <weir/report/html_style.hpp>
#include <weir/report/line.hpp>
#include <weir/report/markup.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/run_view.hpp>
#include <weir/report/stage_state.hpp>
#include <weir/report/svg_graph.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string

namespace weir::detail {

class html_page {
  public:
    // `run` may lack its laps, of which this has all that is shown.
    html_page(const run_view& view, std::size_t most_points)
        : run_(view.run()), view_(view), plots_(view_, most_points) {}

    [[nodiscard]] std::string text() const {
        std::string out;
        append_head(out);
        append_summary(out);
        out += "<main id=\"main\" data-t=\"" + plots_.bounds() + "\" data-u=\"" + plots_.unit() + "\">\n";
        append_pipeline(out);
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
        out += "</section>\n</main>\n<footer class=\"soft\"><p>Made by weir" +
               escaped(run_.build.weir.empty() ? "" : " " + shortened(run_.build.weir, 40)) +
               ". This file is whole: it loads nothing, and sends nothing.</p></footer>\n<script>" +
               html_script + "</script>\n</body>\n</html>\n";
        return out;
    }

  private:
    static void begin(std::string& out, const std::string& id, const std::string& title) {
        out += "<section aria-labelledby=\"" + id + "\"><h2 id=\"" + id + "\">" + title + "</h2>\n";
    }
    [[nodiscard]] std::string name() const {
        return run_.name.empty() ? "A run of a pipeline" : shortened(run_.name, long_text);
    }

    void append_head(std::string& out) const {
        out +=
            "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
            "charset=\"utf-8\"/>\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
            "'unsafe-inline'; "
            "script-src 'unsafe-inline'\"/>\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
            "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>" +
            escaped(shortened(name(), 80)) + "</title>\n<style>" + html_style;
        for (const auto& state : states_in_reports) {
            ((((out += ".st-") += state.name) += " { --state: ") += state.colour) += "; }\n";
        }
        (out += "</style>\n</head>\n<body>\n") += html_marks;
    }

    void append_summary(std::string& out) const {
        out += "<a class=\"skip\" href=\"#main\">To the pipeline</a>\n<header>\n<h1><bdi>" + escaped(name()) +
               "</bdi></h1>\n<p class=\"soft\">" +
               (run_.started.empty() ? "" : "Started " + escaped(shortened(run_.started, 40))) +
               (run_.machine.host.empty() ? "" : " on " + escaped(shortened(run_.machine.host, 60))) +
               (run_.started.empty() && run_.machine.host.empty() ? "" : ".") +
               (run_.ended ? "" : " It still went on when this was written, or its process was killed.") +
               "</p>\n" +
               "<nav aria-label=\"Parts of this page\"><ul><li><a href=\"#pipeline\">Pipeline</a></li><li><a "
               "href=\"#time\">Time per "
               "stage</a></li><li><a href=\"#plots\">Over the run</a></li><li><a "
               "href=\"#percentiles\">Percentiles</a></li><li><a "
               "href=\"#failures\">Failures</a></li><li><a "
               "href=\"#settings\">Settings</a></li></ul></nav>\n<ul class=\"facts\">\n";
        const auto fact = [&out](const std::string& value, const char* what, bool bad = false) {
            out += std::string(bad ? "<li class=\"bad\">" : "<li>") + "<b>" + value + "</b> <span>" + what +
                   "</span></li>\n";
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
        fact(units::count(run_.num_failures), "items failed", run_.num_failures != 0);
        out += "</ul>\n";
        if (last != nullptr && last->num_get != 0) append_reading(out, *last);
        out += "</header>\n";
    }
    // Whether loading is the bottleneck, as the guide "Is data loading bottleneck?" tells.
    static void append_reading(std::string& out, const channel_stats& last) {
        const duration get = last.ave_get_gap();
        const duration put = last.ave_put_wait();
        const bool slow = get > put;
        out += "<p class=\"verdict\"><b>" +
               std::string(slow ? "Your program waits for the pipeline."
                                : "The pipeline keeps up with your program.") +
               "</b> For each item your program waited " + time_markup(get) +
               " to get it, and the pipeline " + time_markup(put) +
               " for room to put it: the one that waits longer is faster than the other. " +
               (slow ? "Look for the first stage, from the sink upwards, that is at work or awaiting nearly "
                       "all of the time."
                     : "To be faster, the program itself has to be.") +
               "</p>\n";
    }

    void append_pipeline(std::string& out) const {
        const svg_graph graph(view_);
        out += graph.is_narrow() ? "<div class=\"two\">\n" : "<div>\n";
        begin(out, "pipeline", "Pipeline");
        if (view_.num_stages() == 0) {
            out += "<p>This run has no stages on record.</p></section>\n";
        } else {
            out +=
                "<p>Each stage has the colour of the state in which its slots were most of the time; the bar "
                "inside has all "
                "of them. At each arrow: for which share of the time the queue had data ready.</p>\n<figure "
                "class=\"scroll" +
                std::string(graph.is_tall() ? " tall" : "") +
                "\" role=\"region\" aria-label=\"The pipeline as a graph\">\n";
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
            note(out, "The pipeline has " + std::to_string(run_.total.stages.size()) +
                          " stages; this page shows the first " + std::to_string(view_.num_stages()) + ".");
    }

    void append_plots(std::string& out) const {
        begin(out, "plots", "Over the run");
        out +=
            "<p>A queue is named after the stage before it: <code>sink</code> is the last one, from which "
            "your program takes. Point at a "
            "plot, or move its slider, to read all of them at that time; choose a name to hide its "
            "line.</p>\n";
        if (!view_.has_laps())
            note(out,
                 "This run has no laps, so that each figure is that of the whole run. Start it with "
                 "<code>.lap = 1s</code> to see "
                 "how they change.");
        const std::size_t laps = view_.num_drawn();
        if (const std::size_t points = plots_.num_points(); points < laps)
            note(out,
                 "The run has " + std::to_string(laps) + " laps; drawn are " + std::to_string(points) +
                     " points, each of " + std::to_string((laps + points - 1) / points) +
                     " laps together (the last one of what is left). Tasks are counted a lap, on average.");
        if (laps < view_.laps().size())
            note(out, "Not drawn are the last " +
                          time_markup(view_.laps().start_of(laps + 1) - view_.laps().start_of(laps)) +
                          ", which are no whole lap; they are in the figures of the whole run.");
        plots_.append_to(out);
        out += "</section>\n";
    }
    static void note(std::string& out, const std::string& text) {
        out += "<p class=\"note\">" + text + "</p>\n";
    }

    const run_record& run_;
    const run_view& view_;
    html_plots plots_;
};

}  // namespace weir::detail

#endif
