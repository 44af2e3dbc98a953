// weir report, internal: a run's pipeline as a graph in SVG, and the layout of the graph
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_SVG_GRAPH_HPP
#define WEIR_REPORT_SVG_GRAPH_HPP

#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/html_markup.hpp>
#include <weir/report/run_view.hpp>

#include <algorithm>  // for std::sort
#include <cmath>      // for std::lround
#include <cstddef>    // for std::size_t
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir::detail {

struct graph_point {
    double x = 0;
    std::size_t row = 0;
};

struct graph_edge {
    std::size_t from = 0;
    std::size_t to = 0;  // greater than `from`
};

// Places the nodes of a graph in rows, so that each edge leads down. An edge has a point of its own in each
// row between its ends.
// Source: K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of hierarchical system
//         structures, IEEE Trans. SMC 11 (1981): rows by the longest path to a node, and the order in a row
//         by the barycenter of the neighbours.
class graph_layout {
  public:
    // `distance`: the least distance between the middles of two nodes in a row. A point of an edge takes a
    // quarter of a node's room.
    graph_layout(std::size_t nodes, const std::vector<graph_edge>& edges, double distance);

    [[nodiscard]] double width() const noexcept { return width_; }
    [[nodiscard]] std::size_t num_rows() const noexcept { return rows_.size(); }
    [[nodiscard]] const graph_point& node(std::size_t n) const { return points_[n]; }
    // The points that an edge passes, from one end to the other.
    [[nodiscard]] std::vector<graph_point> points_of(std::size_t edge) const {
        std::vector<graph_point> points;
        for (const std::size_t p : edge_points_[edge]) points.push_back(points_[p]);
        return points;
    }

  private:
    using list = std::vector<std::size_t>;

    // Adds a point in each row between the ends of the edge. Returns the indices of all points of the edge,
    // with both ends.
    list add_edge(const graph_edge& e);
    // The least distance between the points `a` and `b`, which are next to each other in a row. A point of an
    // edge needs a quarter of the room of a node.
    [[nodiscard]] double between(std::size_t a, std::size_t b) const {
        const double sizes = (a < nodes_ ? 1 : 0.25) + (b < nodes_ ? 1 : 0.25);
        return distance_ * sizes / 2;
    }
    // The mean place of the points in `of`; if `of` is empty, the place of `p`.
    [[nodiscard]] double mean(std::size_t p, const list& of) const {
        double sum = 0;
        for (const std::size_t n : of) sum += points_[n].x;
        return of.empty() ? points_[p].x : sum / static_cast<double>(of.size());
    }
    // Places the points close to the wanted places, without overlap: each in the middle between its places in
    // two packings, from the left and from the right.
    void spread(const list& row, const std::vector<double>& wanted);
    // Orders the points of a row by the mean places of their neighbours, and places the points around 0.
    // `by[p]`: the neighbours of point `p`.
    void sort(list& row, const std::vector<list>& by);
    // Moves each point towards the mean place of its neighbours in `by`; without neighbours in `by`, of those
    // in `otherwise`.
    void align(const list& row, const std::vector<list>& by, const std::vector<list>& otherwise) {
        std::vector<double> wanted;
        for (const std::size_t p : row) wanted.push_back(mean(p, by[p].empty() ? otherwise[p] : by[p]));
        spread(row, wanted);
    }

    double distance_;
    std::size_t nodes_;
    std::vector<graph_point> points_;  // the nodes, then the points where edges pass a row
    std::vector<list> above_;          // the neighbours of each point in the row above
    std::vector<list> below_;          // the neighbours of each point in the row below
    std::vector<list> edge_points_;    // the points of each edge
    std::vector<list> rows_;           // the points of each row, from left to right
    double width_ = 0;
};

// Draws the stages of a run as boxes and the queues between them as lines. The colour of a stage shows in
// which state its slots (workers) spent the most time.
class svg_graph {
    static constexpr long box_width = 204;
    static constexpr long box_height = 58;
    static constexpr long row_height = 104;
    static constexpr long margin = 14;

  public:
    explicit svg_graph(const run_view& view);

    // Whether the graph is narrower than two boxes, so that there is room beside it. Then no row has two
    // boxes.
    [[nodiscard]] bool is_narrow() const { return layout_.width() < box_width; }
    // Whether the graph is so long that it gets a scroll bar of its own.
    [[nodiscard]] bool is_tall() const { return layout_.num_rows() > 16; }

    void append_to(std::string& out) const;

  private:
    static std::vector<graph_edge> edges_of(const run_view& view) {
        std::vector<graph_edge> edges;
        for (const shown_queue& q : view.queues())
            edges.push_back({q.from, q.to.value_or(view.num_stages())});
        return edges;
    }
    // The graph in words, for readers who do not see it. Ends after some 4000 bytes.
    [[nodiscard]] std::string description() const;
    // The room on each side of the boxes. In a graph with boxes side by side, names of branches need more.
    [[nodiscard]] long side() const { return is_narrow() ? margin : margin + 92; }
    [[nodiscard]] long left_of(const graph_point& p) const { return std::lround(p.x) + side(); }
    static long top_of(const graph_point& p) { return static_cast<long>(p.row) * row_height + margin; }
    // The coordinates, for a path, of the point `down` below the middle of a box's upper edge.
    [[nodiscard]] markup at(const graph_point& p, long down) const {
        return filled("{} {}", left_of(p) + box_width / 2, top_of(p) + down);
    }
    static markup text(long x, long y, const std::string& what, bool from_right = false) {
        return filled(R"(<text x="{}" y="{}"{}>{}</text>)", x, y,
                      markup{from_right ? R"( text-anchor="end")" : ""}, what);
    }

    void append_queue(std::string& out, std::size_t i) const;

    struct box {
        std::string state;  // the colour is that of this state
        std::string title;
        std::string name;
        std::string left;
        std::string right;
        std::string concurrency = {};
        markup bar = {};
    };
    void append_box(std::string& out, const graph_point& p, const box& b) const;
    void append_stage(std::string& out, std::size_t i) const;
    // The rate of the first queue behind the stage, in items per second. Without such a queue, the rate of
    // the stage's tasks.
    [[nodiscard]] double rate_of(const stage_stats& s) const {
        const auto& queues = view_.run().total.channels;
        return s.outputs.empty() || s.outputs[0] >= queues.size() ? s.rate() : queues[s.outputs[0]].rate();
    }
    void append_consumer(std::string& out) const;

    const run_view& view_;
    bool has_consumer_;  // whether the program takes items
    graph_layout layout_;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/svg_graph.ipp>
#endif

#endif
