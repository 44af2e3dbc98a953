// weir report, internal: places for the nodes of a graph, in rows from top to bottom
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_GRAPH_LAYOUT_HPP
#define WEIR_REPORT_GRAPH_LAYOUT_HPP

#include <weir/platform/requirements.hpp>

#include <algorithm>  // for std::max, std::min, std::sort
#include <cstddef>    // for std::size_t
#include <utility>    // for std::move, std::pair
#include <vector>     // for std::vector

namespace weir::detail {

struct graph_point {
    double x = 0;
    std::size_t row = 0;
};

struct graph_edge {
    std::size_t from = 0;
    std::size_t to = 0;  // greater
};

// Each edge leads down. One that passes rows has a place in each of these, where no node lies.
//
// Source: K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of hierarchical system
//         structures, IEEE Trans. SMC 11 (1981): rows by the longest way, and the
//         order in a row by the mean of the neighbours' places.
class graph_layout {
  public:
    // `distance`: from one node's middle to the next one's; of what only passes a row, a quarter of it.
    graph_layout(std::size_t nodes, const std::vector<graph_edge>& edges, double distance)
        : distance_(distance), nodes_(nodes), points_(nodes), above_(nodes), below_(nodes) {
        for (std::size_t n = 0; n < nodes; ++n) {
            for (const graph_edge& e : edges) {
                if (e.from == n) points_[e.to].row = (std::max)(points_[e.to].row, points_[n].row + 1);
            }
        }
        for (const graph_edge& e : edges) ways_.push_back(way_of(e));
        for (std::size_t p = 0; p < points_.size(); ++p) {
            rows_.resize((std::max)(rows_.size(), points_[p].row + 1));
            rows_[points_[p].row].push_back(p);
        }
        for (auto& row : rows_) spread(row, {});
        for (int i = 0; i < 4; ++i) {
            for (auto& row : rows_) sort(row, above_);
            for (std::size_t r = rows_.size(); r-- > 0;) sort(rows_[r], below_);
        }
        for (int i = 0; i < 8; ++i) {
            for (auto& row : rows_) align(row, above_, below_);
            for (std::size_t r = rows_.size(); r-- > 0;) align(rows_[r], below_, above_);
        }
        double left = 0;
        double right = 0;
        for (std::size_t p = 0; p < points_.size(); ++p) {
            left = p == 0 ? points_[p].x : (std::min)(left, points_[p].x);
            right = p == 0 ? points_[p].x : (std::max)(right, points_[p].x);
        }
        for (graph_point& p : points_) p.x -= left;
        width_ = right - left;
    }

    [[nodiscard]] double width() const noexcept { return width_; }
    [[nodiscard]] std::size_t num_rows() const noexcept { return rows_.size(); }
    [[nodiscard]] const graph_point& node(std::size_t n) const { return points_[n]; }
    // From its one end to the other.
    [[nodiscard]] std::vector<graph_point> way(std::size_t edge) const {
        std::vector<graph_point> points;
        for (const std::size_t p : ways_[edge]) points.push_back(points_[p]);
        return points;
    }

  private:
    using list = std::vector<std::size_t>;

    list way_of(const graph_edge& e) {
        list way = {e.from};
        for (std::size_t row = points_[e.from].row + 1; row < points_[e.to].row; ++row) {
            way.push_back(points_.size());
            points_.push_back({0, row});
            above_.emplace_back();
            below_.emplace_back();
        }
        way.push_back(e.to);
        for (std::size_t i = 0; i + 1 < way.size(); ++i) {
            below_[way[i]].push_back(way[i + 1]);
            above_[way[i + 1]].push_back(way[i]);
        }
        return way;
    }
    [[nodiscard]] double between(std::size_t a, std::size_t b) const {
        const double sizes = (a < nodes_ ? 1 : 0.25) + (b < nodes_ ? 1 : 0.25);
        return distance_ * sizes / 2;
    }
    [[nodiscard]] double mean(std::size_t p, const list& of) const {
        double sum = 0;
        for (const std::size_t n : of) sum += points_[n].x;
        return of.empty() ? points_[p].x : sum / static_cast<double>(of.size());
    }
    // As near to those places as there is room: the middle between packing them from the left and from the
    // right. Without, next to each other around 0.
    void spread(const list& row, const std::vector<double>& wanted) {
        std::vector<double> from_left(row.size());
        std::vector<double> from_right(row.size());
        for (std::size_t i = 0; i < row.size(); ++i) {
            from_left[i] = wanted.empty() ? 0 : wanted[i];
            if (i > 0)
                from_left[i] = (std::max)(from_left[i], from_left[i - 1] + between(row[i - 1], row[i]));
        }
        for (std::size_t i = row.size(); i-- > 0;) {
            from_right[i] = wanted.empty() ? 0 : wanted[i];
            if (i + 1 < row.size())
                from_right[i] = (std::min)(from_right[i], from_right[i + 1] - between(row[i], row[i + 1]));
        }
        for (std::size_t i = 0; i < row.size(); ++i) points_[row[i]].x = (from_left[i] + from_right[i]) / 2;
    }
    void sort(list& row, const std::vector<list>& by) {
        std::vector<std::pair<double, std::size_t>>
            order;  // wanted, and where it stands: of equals none moves
        for (std::size_t i = 0; i < row.size(); ++i) order.emplace_back(mean(row[i], by[row[i]]), i);
        std::sort(order.begin(), order.end());
        list sorted;
        for (const auto& each : order) sorted.push_back(row[each.second]);
        row = std::move(sorted);
        spread(row, {});
    }
    void align(const list& row, const std::vector<list>& by, const std::vector<list>& otherwise) {
        std::vector<double> wanted;
        for (const std::size_t p : row) wanted.push_back(mean(p, by[p].empty() ? otherwise[p] : by[p]));
        spread(row, wanted);
    }

    double distance_;
    std::size_t nodes_;
    std::vector<graph_point> points_;  // the nodes, then where edges pass a row
    std::vector<list> above_;          // the neighbours of each in the row above
    std::vector<list> below_;
    std::vector<list> ways_;  // one an edge
    std::vector<list> rows_;
    double width_ = 0;
};

}  // namespace weir::detail

#endif
