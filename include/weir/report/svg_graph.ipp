// weir report, internal: bodies of the functions of report/svg_graph.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_SVG_GRAPH_IPP
#define WEIR_REPORT_SVG_GRAPH_IPP

#include <weir/report/svg_graph.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::max, std::min, std::ranges::any_of, std::ranges::minmax
#include <utility>    // for std::move, std::pair

namespace weir::detail {

WEIR_INLINE graph_layout::graph_layout(std::size_t nodes, const std::vector<graph_edge>& edges,
                                       double distance)
    : distance_(distance), nodes_(nodes), points_(nodes), above_(nodes), below_(nodes) {
    for (std::size_t n = 0; n < nodes; ++n) {
        for (const graph_edge& e : edges) {
            if (e.from == n) points_[e.to].row = (std::max)(points_[e.to].row, points_[n].row + 1);
        }
    }
    for (const graph_edge& e : edges) edge_points_.push_back(add_edge(e));
    for (std::size_t p = 0; p < points_.size(); ++p) {
        rows_.resize((std::max)(rows_.size(), points_[p].row + 1));
        rows_[points_[p].row].push_back(p);
    }
    for (auto& row : rows_) spread(row, std::vector<double>(row.size()));
    for (int i = 0; i < 4; ++i) {
        for (auto& row : rows_) sort(row, above_);
        for (std::size_t r = rows_.size(); r-- > 0;) sort(rows_[r], below_);
    }
    for (int i = 0; i < 8; ++i) {
        for (auto& row : rows_) align(row, above_, below_);
        for (std::size_t r = rows_.size(); r-- > 0;) align(rows_[r], below_, above_);
    }
    if (points_.empty()) return;
    const auto [left, right] = std::ranges::minmax(points_, {}, &graph_point::x);
    for (graph_point& p : points_) p.x -= left.x;
    width_ = right.x - left.x;
}

WEIR_INLINE auto graph_layout::add_edge(const graph_edge& e) -> list {
    list points = {e.from};
    for (std::size_t row = points_[e.from].row + 1; row < points_[e.to].row; ++row) {
        points.push_back(points_.size());
        points_.push_back({0, row});
        above_.emplace_back();
        below_.emplace_back();
    }
    points.push_back(e.to);
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        below_[points[i]].push_back(points[i + 1]);
        above_[points[i + 1]].push_back(points[i]);
    }
    return points;
}

WEIR_INLINE void graph_layout::spread(const list& row, const std::vector<double>& wanted) {
    std::vector<double> from_left = wanted;
    std::vector<double> from_right = wanted;
    for (std::size_t i = 1; i < row.size(); ++i)
        from_left[i] = (std::max)(from_left[i], from_left[i - 1] + between(row[i - 1], row[i]));
    for (std::size_t i = row.size(); i-- > 1;)
        from_right[i - 1] = (std::min)(from_right[i - 1], from_right[i] - between(row[i - 1], row[i]));
    for (std::size_t i = 0; i < row.size(); ++i) points_[row[i]].x = (from_left[i] + from_right[i]) / 2;
}

WEIR_INLINE void graph_layout::sort(list& row, const std::vector<list>& by) {
    std::vector<std::pair<double, std::size_t>> order;  // by wanted place, then by index: stable
    for (std::size_t i = 0; i < row.size(); ++i) order.emplace_back(mean(row[i], by[row[i]]), i);
    std::sort(order.begin(), order.end());
    list sorted;
    for (const auto& each : order) sorted.push_back(row[each.second]);
    row = std::move(sorted);
    spread(row, std::vector<double>(row.size()));
}

WEIR_INLINE svg_graph::svg_graph(const run_view& view)
    : view_(view), has_consumer_(std::ranges::any_of(view.queues(), [](const auto& q) { return !q.to; })),
      layout_(view.num_stages() + (has_consumer_ ? 1 : 0), edges_of(view), box_width + 26) {}

WEIR_INLINE void svg_graph::append_to(std::string& out) const {
    const long width = std::lround(layout_.width()) + box_width + 2 * side();
    fill_in(out, R"(<svg class="graph" role="img" aria-labelledby="graph-t graph-d" viewBox="0 0 {} {}" )",
            width, top_of({0, layout_.num_rows()}) - row_height + box_height + margin);
    fill_in(out, R"(style="max-width:{}px;min-width:{}px" xmlns="http://www.w3.org/2000/svg">
<title id="graph-t">The stages and the queues between them</title><desc id="graph-d">{}</desc>
)",
            width * 5 / 4, width * 3 / 4, description());
    fill_in(out,
            R"(<defs><rect id="box" width="{}" height="{}" rx="4"/><path id="side" d="M4 0v{}"/>)"
            R"(<clipPath id="inside"><use href="#box"/></clipPath></defs>
)",
            box_width, box_height, box_height);
    for (std::size_t i = 0; i < view_.queues().size(); ++i) append_queue(out, i);
    for (std::size_t i = 0; i < view_.num_stages(); ++i) append_stage(out, i);
    if (has_consumer_) append_consumer(out);
    out += "</svg>\n";
}

WEIR_INLINE std::string svg_graph::description() const {
    std::string text;
    for (const shown_queue& q : view_.queues()) {
        text += view_.stage(q.from) + " gives to " + (q.to ? view_.stage(*q.to) : "your program") + ". ";
        if (text.size() > 4000) return text + "…";
    }
    return text.empty() ? "No stages are known." : text;
}

WEIR_INLINE void svg_graph::append_queue(std::string& out, std::size_t i) const {
    const shown_queue& q = view_.queues()[i];
    const channel_stats& c = view_.run().total.channels[q.channel];
    const std::vector<graph_point> points = layout_.points_of(i);
    std::string path = "M" + at(points[0], box_height).text;
    for (std::size_t p = 1; p < points.size(); ++p) {
        const bool ends = p + 1 == points.size();
        if (are_equal(points[p].x, points[p - 1].x)) {
            path += "L";
        } else {
            fill_in(path, "C{} {} ", at(points[p - 1], box_height + 30), at(points[p], -34));
        }
        path += at(points[p], ends ? -6 : 0).text;
        if (!ends) fill_in(path, "v{}", box_height);
    }
    fill_in(out,
            "<g class=\"queue\"><title>queue behind {}: {}{}{} items taken, {}data ready {}, put {}, get "
            "{}</title>",
            view_.stage(q.from), c.capacity, c.capacity == 1 ? " place, " : " places, ",
            units::count(c.num_get),
            c.num_discarded != 0 ? units::count(c.num_discarded) + " discarded, " : "",
            units::percent(c.readiness()), time_markup(c.ave_put_wait()), time_markup(c.ave_get_gap()));
    fill_in(out, R"(<path d="{}"/>)", path);
    // The text stands at the end of the line if no other line arrives at the box; else at the line's start.
    // If the line leads to the right from the text, the text is on the left of the line; else on the right.
    std::size_t arrive = 0;
    for (const shown_queue& other : view_.queues()) arrive += other.to == q.to ? 1U : 0U;
    const graph_point& here = arrive == 1 ? points.back() : points.front();
    const graph_point& next = arrive == 1 ? points[points.size() - 2] : points[1];
    const bool on_left = next.x > here.x + 1;
    const std::string ready = units::percent(c.readiness()) + " ready";
    fill_in(out, "{}</g>\n",
            text(left_of(here) + box_width / 2 + (on_left ? -8 : 8),
                 top_of(here) + (arrive == 1 ? -15 : box_height + 19),
                 q.branch.empty() ? ready : shortened(q.branch, 14) + ": " + ready, on_left));
}

WEIR_INLINE void svg_graph::append_box(std::string& out, const graph_point& p, const box& b) const {
    fill_in(out, "<g class=\"box st-{}\" transform=\"translate({} {})\"><title>{}</title>", b.state,
            left_of(p), top_of(p), b.title);
    fill_in(out,
            R"(<use href="#box"/><use href="#side"/><text class="strong" x="15" y="20">{}</text>{}{}{}{}</g>
)",
            b.name, text(15, 37, b.left), text(box_width - 8, 37, b.right, true),
            b.concurrency.empty() ? markup() : text(box_width - 8, 20, b.concurrency, true), b.bar);
}

WEIR_INLINE void svg_graph::append_stage(std::string& out, std::size_t i) const {
    const stage_stats& s = view_.run().total.stages[i];
    const slot_times t = s.times();
    const bool one = s.concurrency == 1;
    append_box(out, layout_.node(i),
               {longest_state(t).name,
                view_.stage(i) + " (" + shortened(s.kind, 20) + ", " + std::to_string(s.concurrency) +
                    (one ? " slot)" : " slots)"),
                shortened(view_.stage(i), one ? 25 : 20), longest_state_text(t), units::rate(rate_of(s)),
                one ? "" : "×" + std::to_string(s.concurrency), state_bar(t, 15, 48, box_width - 23)});
}

WEIR_INLINE void svg_graph::append_consumer(std::string& out) const {
    const channel_stats& c = *view_.last_queue();
    const double waits = share_of(c.get_blocked, c.elapsed);
    append_box(out, layout_.node(view_.num_stages()),
               {waits > 0.5 ? "wait_get" : "run",
                "your program takes the results; it waited " + units::percent(waits) + " of the time",
                "your program", "waits " + units::whole_percent(waits) + " %", units::rate(c.rate())});
}

}  // namespace weir::detail

#endif
