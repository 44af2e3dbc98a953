#include <weir/stages/iteration.hpp>

#include "support/catch.hpp"

using weir::detail::place_without_epoch;
using weir::detail::turn;

TEST_CASE("a place without epochs is one of epoch 0, and no mark") {
    place_without_epoch mine;
    mine.number = 7;
    const turn t = mine;
    CHECK(t.number == 7);
    CHECK(t.epoch == 0);
    CHECK_FALSE(t.mark);
}
