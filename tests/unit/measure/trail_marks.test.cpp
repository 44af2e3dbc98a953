#include <weir/measure/trail_marks.hpp>

#include "support/catch.hpp"

using weir::detail::trail_marks;

TEST_CASE("a mark is found once, at its number") {
    trail_marks m(3, 2, true);
    CHECK(m.queue() == 3);
    CHECK(m.take(7) == 0);
    CHECK(m.set(7, 42));
    CHECK(m.take(8) == 0);
    CHECK(m.take(7) == 42);
    CHECK(m.take(7) == 0);
    CHECK(m.lost() == 0);
}

TEST_CASE("a place whose mark was not taken yet is not given away, which is counted") {
    trail_marks m(0, 2, true);
    CHECK(m.set(5, 1));
    CHECK_FALSE(m.set(5 + 1024, 2));
    CHECK(m.lost() == 1);
    CHECK(m.take(5 + 1024) == 0);
    CHECK(m.take(5) == 1);
    CHECK(m.set(5 + 1024, 2));
}

TEST_CASE("what no stage takes from has no marks") {
    trail_marks m(0, 2, false);
    CHECK_FALSE(m.set(0, 1));
    CHECK(m.take(0) == 0);
    CHECK(m.lost() == 0);
}
