#include <weir/run/turnstile.hpp>

#include "support/catch.hpp"

using weir::detail::turnstile;

TEST_CASE("a turnstile lets nobody in before it is told to, and then exactly so many") {
    turnstile t;
    CHECK_FALSE(t.lets_in());
    t.let_in(2);
    CHECK(t.lets_in());
    CHECK(t.lets_in());
    CHECK_FALSE(t.lets_in());
    t.let_in(1);
    t.let_in(0);
    CHECK_FALSE(t.lets_in());
}

TEST_CASE("a turnstile lets in the end of an epoch while it lets anything in, and doesn't count it") {
    turnstile t;
    CHECK_FALSE(t.lets_in(false));
    t.let_in(1);
    CHECK(t.lets_in(false));
    CHECK(t.lets_in());
    CHECK_FALSE(t.lets_in(false));
}

TEST_CASE("a turnstile that is open stays so") {
    turnstile t;
    t.open();
    t.let_in(0);
    CHECK(t.lets_in());
}
