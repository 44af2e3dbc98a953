#include <weir/measure/state_journal.hpp>

#include "support/catch.hpp"

#include <cstdint>

using weir::detail::slot_state;
using weir::detail::state_journal;

TEST_CASE("a journal has the last states, and says from which on") {
    state_journal j;
    CHECK(j.count() == 0);
    j.add(slot_state::wait_get, 5);
    CHECK(j.first() == 0);
    CHECK(j[0].since == 5);
    for (std::int64_t t = 6; t < 106; ++t) j.add(slot_state::run, t);
    CHECK(j.count() == 101);
    CHECK(j[j.first()].since == 5 + static_cast<std::int64_t>(j.first()));
    CHECK(j[100].since == 105);
    CHECK(j[100].state == slot_state::run);
}
