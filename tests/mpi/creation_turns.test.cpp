#include <weir/mpi/creation_turns.hpp>

#include "support/catch.hpp"

#include <cstdint>

using weir::mpi::detail::creation_turns;
using turn = creation_turns::turn;

TEST_CASE("no number is proposed twice, by one rank or by two") {
    creation_turns first(0);
    creation_turns second(1);
    const std::uint64_t a = first.propose();
    const std::uint64_t b = second.propose();
    const std::uint64_t c = first.propose();
    CHECK(a != b);
    CHECK(b != c);
    CHECK(c > a);
    CHECK(a != 0);
}

TEST_CASE("a rank lets one creation go on at a time") {
    creation_turns here(0);
    turn only(here, 7);
    CHECK(only.approve());
    CHECK(only.approve());
    turn lower(here, 5);
    CHECK_FALSE(lower.approve());
    CHECK(only.approve());
    only.withdraw();
    CHECK_FALSE(only.approve());
    CHECK(lower.approve());
}

TEST_CASE("a creation lets those with lower numbers go first, in whatever order they come") {
    creation_turns here(0);
    turn last(here, 9);
    {
        turn first(here, 3);
        turn second(here, 6);
        CHECK_FALSE(last.approve());
        CHECK_FALSE(second.approve());
        CHECK(first.approve());
        CHECK_FALSE(second.approve());
    }
    CHECK(last.approve());
}

TEST_CASE("ranks that let different creations go on give way, and then agree") {
    creation_turns left(0);
    creation_turns right(1);
    turn a_left(left, 1);
    turn b_right(right, 2);
    CHECK(a_left.approve());
    CHECK(b_right.approve());
    turn b_left(left, 2);
    turn a_right(right, 1);
    CHECK_FALSE(b_left.approve());   // so b withdraws
    CHECK_FALSE(a_right.approve());  // so a withdraws
    a_left.withdraw();
    b_right.withdraw();
    CHECK_FALSE(b_right.approve());
    CHECK(a_right.approve());
    CHECK(a_left.approve());
}
