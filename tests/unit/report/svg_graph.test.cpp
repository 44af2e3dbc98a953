#include <weir/report/svg_graph.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

using weir::detail::graph_edge;
using weir::detail::graph_layout;

namespace {

// Whether what lies in one row has the room that it needs.
bool has_room(const graph_layout& layout, std::size_t nodes, double distance) {
    for (std::size_t a = 0; a < nodes; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            if (layout.node(a).row != layout.node(b).row) continue;
            if (std::abs(layout.node(a).x - layout.node(b).x) < distance - 1e-6) return false;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("in the layout, stages in a row stand straight below each other") {
    const graph_layout layout(4, {{0, 1}, {1, 2}, {2, 3}}, 100);
    CHECK(layout.num_rows() == 4);
    CHECK(layout.width() == 0);
    for (std::size_t i = 0; i < 4; ++i) CHECK(layout.node(i).row == i);
}

TEST_CASE("in the layout, branches stand beside each other, with their fork and join in the middle") {
    const std::vector<graph_edge> edges = {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}};
    const graph_layout layout(5, edges, 100);
    CHECK(layout.num_rows() == 3);
    CHECK(layout.width() == 200);
    CHECK(std::abs(layout.node(0).x - 100) < 1e-6);
    CHECK(std::abs(layout.node(4).x - 100) < 1e-6);
    CHECK(has_room(layout, 5, 100));
}

TEST_CASE("in the layout, an edge that passes rows goes past their stages") {
    const graph_layout layout(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}, 100);
    CHECK(layout.num_rows() == 4);
    const auto points = layout.points_of(3);
    REQUIRE(points.size() == 4);
    for (std::size_t row = 1; row < 3; ++row) {
        CHECK(points[row].row == row);
        CHECK(std::abs(points[row].x - layout.node(row).x) > 60);
    }
}

TEST_CASE("the layout of a tree of a hundred stages has room for all") {
    std::vector<graph_edge> edges;
    for (std::size_t i = 1; i < 100; ++i) edges.push_back({(i - 1) / 3, i});
    const graph_layout layout(100, edges, 100);
    CHECK(layout.num_rows() == 5);
    CHECK(has_room(layout, 100, 100));
}

TEST_CASE("an empty layout has no rows") {
    CHECK(graph_layout(0, {}, 100).num_rows() == 0);
    CHECK(graph_layout(0, {}, 100).width() == 0);
    CHECK(graph_layout(2, {}, 100).width() == 100);
}
