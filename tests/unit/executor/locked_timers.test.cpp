#include <weir/executor/locked_timers.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <deque>
#include <type_traits>

using namespace std::chrono_literals;
using timers = weir::basic_locked_timers<>;
using added = timers::added;

static_assert(!std::is_copy_constructible_v<timers>);

namespace {
weir::time_point at(weir::duration d) { return weir::time_point(d); }
}  // namespace

TEST_CASE("locked timers tell whether a timer is the earliest, and when that is due") {
    timers q;
    weir::timer a(at(5ns), nullptr), b(at(7ns), nullptr), c(at(3ns), nullptr);
    CHECK(q.next() == timers::never);
    CHECK(q.add(a) == added::earliest);
    CHECK(q.next() == 5);
    CHECK(q.add(b) == added::queued);
    CHECK(q.next() == 5);
    CHECK(q.add(c) == added::earliest);
    CHECK(q.next() == 3);
    CHECK(q.cancel(c, at(1ns)));
    CHECK_FALSE(q.cancel(c, at(2ns)));
    CHECK(q.next() == 5);
    int fired = 0;
    CHECK(q.fire(at(4ns), [&](std::coroutine_handle<>) { ++fired; }) == 0);
    CHECK(q.fire(at(7ns), [&](std::coroutine_handle<>) { ++fired; }) == 2);
    CHECK(fired == 2);
    CHECK(q.next() == timers::never);
}

TEST_CASE("locked timers refuse one that was cancelled before") {
    timers q;
    weir::timer t(at(5ns), nullptr);
    CHECK_FALSE(q.cancel(t, at(1ns)));
    CHECK(q.add(t) == added::refused);
    CHECK(q.next() == timers::never);
}

TEST_CASE("locked timers fire more than a handful at once, in order") {
    timers q;
    std::deque<weir::timer> many;
    for (int i = 0; i < 100; ++i) {
        many.emplace_back(at(weir::duration(100 - i)), nullptr);
        CHECK(q.add(many.back()) == added::earliest);
    }
    std::size_t n = 0;
    CHECK(q.fire(at(100ns), [&](std::coroutine_handle<>) { ++n; }) == 100);
    CHECK(n == 100);
}
