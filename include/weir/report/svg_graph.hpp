// weir report, internal: a pipeline as a graph, as SVG: each stage in the colour of what it did most
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_SVG_GRAPH_HPP
#define WEIR_REPORT_SVG_GRAPH_HPP

#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/graph_layout.hpp>
#include <weir/report/markup.hpp>
#include <weir/report/run_view.hpp>
#include <weir/report/stage_state.hpp>
#include <weir/report/state_bar.hpp>

#include <algorithm>  // for std::any_of
#include <cmath>      // for std::lround
#include <cstddef>    // for std::size_t
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir::detail {

class svg_graph {
    static constexpr long box_width = 204;
    static constexpr long box_height = 58;
    static constexpr long row_height = 104;
    static constexpr long margin = 14;

  public:
    explicit svg_graph(const run_view& view)
        : view_(view), takes_(leads_out(view)),
          layout_(view.num_stages() + (takes_ ? 1 : 0), edges_of(view), box_width + 26) {}

    // Whether it leaves room beside it: all stages stand below each other.
    [[nodiscard]] bool is_narrow() const { return layout_.width() < box_width; }
    // Whether it is better scrolled by itself than with the page.
    [[nodiscard]] bool is_tall() const { return layout_.num_rows() > 16; }

    void append_to(std::string& out) const {
        const long width = std::lround(layout_.width()) + box_width + 2 * side();
        const long height =
            static_cast<long>(layout_.num_rows()) * row_height - (row_height - box_height) + 2 * margin;
        out += "<svg class=\"graph\" role=\"img\" aria-labelledby=\"graph-t graph-d\" viewBox=\"0 0 " +
               std::to_string(width) + " " + std::to_string(height) +
               "\" style=\"max-width:" + std::to_string(width * 5 / 4) +
               "px;min-width:" + std::to_string(width * 3 / 4) +
               "px\" xmlns=\"http://www.w3.org/2000/svg\">\n<title id=\"graph-t\">The stages and the queues "
               "between them</title><desc id=\"graph-d\">" +
               escaped(words()) + "</desc>\n";
        out += "<defs><rect id=\"box\" width=\"" + std::to_string(box_width) + "\" height=\"" +
               std::to_string(box_height) + "\" rx=\"4\"/><path id=\"side\" d=\"M4 0v" +
               std::to_string(box_height) +
               "\"/><clipPath id=\"inside\"><use href=\"#box\"/></clipPath></defs>\n";
        for (std::size_t i = 0; i < view_.queues().size(); ++i) append_queue(out, i);
        for (std::size_t i = 0; i < view_.num_stages(); ++i) append_stage(out, i);
        if (takes_) append_consumer(out);
        out += "</svg>\n";
    }

  private:
    static bool leads_out(const run_view& view) {
        return std::any_of(view.queues().begin(), view.queues().end(),
                           [](const shown_queue& q) { return !q.to; });
    }
    static std::vector<graph_edge> edges_of(const run_view& view) {
        std::vector<graph_edge> edges;
        for (const shown_queue& q : view.queues())
            edges.push_back({q.from, q.to.value_or(view.num_stages())});
        return edges;
    }
    // For those who don't see it.
    [[nodiscard]] std::string words() const {
        std::string text;
        for (const shown_queue& q : view_.queues()) {
            text += view_.stage(q.from) + " gives to " + (q.to ? view_.stage(*q.to) : "your program") + ". ";
            if (text.size() > 4000) return text + "…";
        }
        return text.empty() ? "No stages are known." : text;
    }
    // What is left free beside the boxes: where ways part, for the names of branches.
    [[nodiscard]] long side() const { return is_narrow() ? margin : margin + 92; }
    [[nodiscard]] long left_of(const graph_point& p) const { return std::lround(p.x) + side(); }
    static long top_of(const graph_point& p) { return static_cast<long>(p.row) * row_height + margin; }
    [[nodiscard]] std::string at(const graph_point& p, long down) const {
        return std::to_string(left_of(p) + box_width / 2) + " " + std::to_string(top_of(p) + down);
    }
    static std::string text(const char* style, long x, long y, const std::string& what,
                            bool from_right = false) {
        return (*style == '\0' ? std::string("<text x=\"")
                               : std::string("<text class=\"") + style + "\" x=\"") +
               std::to_string(x) + "\" y=\"" + std::to_string(y) +
               (from_right ? "\" text-anchor=\"end\">" : "\">") + escaped(what) + "</text>";
    }

    void append_queue(std::string& out, std::size_t i) const {
        const shown_queue& q = view_.queues()[i];
        const channel_stats& c = view_.run().total.channels[q.channel];
        const std::vector<graph_point> way = layout_.way(i);
        std::string path = "M" + at(way[0], box_height);
        for (std::size_t p = 1; p < way.size(); ++p) {
            const bool ends = p + 1 == way.size();
            path += (are_equal(way[p].x, way[p - 1].x)
                         ? "L"
                         : "C" + at(way[p - 1], box_height + 30) + " " + at(way[p], -34) + " ") +
                    at(way[p], ends ? -6 : 0);
            if (!ends) path += "v" + std::to_string(box_height);
        }
        out += "<g class=\"queue\"><title>" + escaped("queue behind " + view_.stage(q.from)) + ": " +
               std::to_string(c.capacity) + (c.capacity == 1 ? " place, " : " places, ") +
               units::count(c.num_get) + " items taken, " +
               (c.num_discarded != 0 ? units::count(c.num_discarded) + " discarded, " : "") + "data ready " +
               units::percent(c.readiness()) + ", put " + time_markup(c.ave_put_wait()) + ", get " +
               time_markup(c.ave_get_gap()) + "</title><path d=\"" + path + "\"/>";
        // At that end of the line that has no other one, on the free side.
        std::size_t arrive = 0;
        for (const shown_queue& other : view_.queues()) arrive += other.to == q.to ? 1U : 0U;
        const graph_point& here = arrive == 1 ? way.back() : way.front();
        const graph_point& next = arrive == 1 ? way[way.size() - 2] : way[1];
        const bool on_left = next.x > here.x + 1;
        const std::string ready = units::percent(c.readiness()) + " ready";
        out += text("", left_of(here) + box_width / 2 + (on_left ? -8 : 8),
                    top_of(here) + (arrive == 1 ? -15 : box_height + 19),
                    q.branch.empty() ? ready : shortened(q.branch, 14) + ": " + ready, on_left);
        out += "</g>\n";
    }

    // In the colour of `style`.
    void append_box(std::string& out, const graph_point& p, const std::string& style,
                    const std::string& title, const std::string& name, const std::string& text_of_slots,
                    const std::string& left, const std::string& right, const std::string& bar) const {
        out += "<g class=\"box st-" + style + "\" transform=\"translate(" + std::to_string(left_of(p)) + " " +
               std::to_string(top_of(p)) + ")\"><title>" + escaped(title) +
               "</title><use href=\"#box\"/><use href=\"#side\"/>" + text("strong", 15, 20, name) +
               text("", 15, 37, left) + text("", box_width - 8, 37, right, true);
        if (!text_of_slots.empty()) out += text("", box_width - 8, 20, text_of_slots, true);
        out += bar + "</g>\n";
    }
    void append_stage(std::string& out, std::size_t i) const {
        const stage_stats& s = view_.run().total.stages[i];
        const slot_times t = s.times();
        const state_in_reports& chief = chief_state(t);
        const std::string text_of_slots =
            std::to_string(s.concurrency) + (s.concurrency == 1 ? " slot" : " slots");
        append_box(out, layout_.node(i), chief.name,
                   view_.stage(i) + " (" + shortened(s.kind, 20) + ", " + text_of_slots + ")",
                   shortened(view_.stage(i), s.concurrency == 1 ? 25 : 20),
                   s.concurrency == 1 ? "" : "×" + std::to_string(s.concurrency),
                   units::whole_percent(share_of(t.*(chief.time), t.total())) + " % " + chief.is,
                   units::rate(rate_of(s)), state_bar(t, 15, 48, box_width - 23));
    }
    // Items that leave it a second.
    [[nodiscard]] double rate_of(const stage_stats& s) const {
        const auto& queues = view_.run().total.channels;
        return s.outputs.empty() || s.outputs[0] >= queues.size() ? s.rate() : queues[s.outputs[0]].rate();
    }
    void append_consumer(std::string& out) const {
        const channel_stats& c = *view_.last_queue();
        const double waits = share_of(c.get_blocked, c.elapsed);
        append_box(out, layout_.node(view_.num_stages()), waits > 0.5 ? "wait_get" : "run",
                   "your program takes the results; it waited " + units::percent(waits) + " of the time",
                   "your program", "", "waits " + units::whole_percent(waits) + " %", units::rate(c.rate()),
                   "");
    }

    const run_view& view_;
    bool takes_;  // whether the program does
    graph_layout layout_;
};

}  // namespace weir::detail

#endif
