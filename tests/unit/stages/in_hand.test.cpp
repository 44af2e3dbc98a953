#include <weir/stages/in_hand.hpp>

#include "support/catch.hpp"

using weir::detail::turn;
using weir::detail::turn_without_epoch;

TEST_CASE("a turn without epochs is one of epoch 0, and no mark") {
    turn_without_epoch mine;
    mine.number = 7;
    const turn t = mine;
    CHECK(t.number == 7);
    CHECK(t.epoch == 0);
    CHECK_FALSE(t.mark);
}
