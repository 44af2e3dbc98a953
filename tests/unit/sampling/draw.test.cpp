#include <weir/sampling/draw.hpp>

#include "support/catch.hpp"

#include <type_traits>

using weir::draw;
using weir::draw_order;
using weir::draw_sequence;

static_assert(std::is_trivially_copyable_v<draw>);
// What is awaited must be no aggregate: a compiler that is supported miscompiles those.
static_assert(!std::is_aggregate_v<draw>);

TEST_CASE("a draw says what it is, and where") {
    constexpr draw d(12, 4, 1, true);
    CHECK(d.position == 12);
    CHECK(d.index == 4);
    CHECK(d.epoch == 1);
    CHECK(d.padded);
    CHECK(d != draw(12, 4, 1, false));
    CHECK(draw() == draw(0, 0, 0, false));
}

TEST_CASE("sequences are equal if all that decides an index is") {
    const draw_sequence a{draw_order::weighted, 1, 2, 3};
    CHECK(a == draw_sequence{draw_order::weighted, 1, 2, 3});
    CHECK(a != draw_sequence{draw_order::permuted, 1, 2, 3});
    CHECK(a != draw_sequence{draw_order::weighted, 0, 2, 3});
    CHECK(a != draw_sequence{draw_order::weighted, 1, 0, 3});
    CHECK(a != draw_sequence{draw_order::weighted, 1, 2, 0});
}
