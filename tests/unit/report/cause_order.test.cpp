#include <weir/report/cause_order.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <vector>

using weir::detail::steps_to_cause;
using numbers = std::vector<std::size_t>;

TEST_CASE("what needs nothing is a cause, and the others follow by how far they are from one") {
    CHECK(steps_to_cause({}) == numbers{});
    CHECK(steps_to_cause({{1}, {2}, {}}) == numbers{2, 1, 0});
    CHECK(steps_to_cause({{1, 3}, {2}, {}, {}}) == numbers{1, 1, 0, 0});
}

TEST_CASE("in a circle all are causes, and who leads into it is none") {
    CHECK(steps_to_cause({{0}}) == numbers{0});
    CHECK(steps_to_cause({{1}, {2}, {1}}) == numbers{1, 0, 0});
    CHECK(steps_to_cause({{1}, {0, 2}, {3}, {4}, {3}}) == numbers{3, 2, 1, 0, 0});
}

TEST_CASE("a circle of which one needs what needs nothing is no cause") {
    CHECK(steps_to_cause({{1}, {0, 2}, {}}) == numbers{2, 1, 0});
}
