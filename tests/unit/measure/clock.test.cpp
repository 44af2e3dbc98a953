#include <weir/measure/clock.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cstdint>
#include <type_traits>

using weir::duration;
using weir::saturating_add;
using weir::time_point;
using namespace std::chrono_literals;

static_assert(sizeof(duration) == 8);
static_assert(sizeof(time_point) == 8);
static_assert(std::is_same_v<time_point::duration, duration>);
static_assert(std::is_convertible_v<std::chrono::milliseconds, duration>);
static_assert(weir::clock::is_steady);
// Instants of the clocks of the system are none of ours.
static_assert(!std::is_convertible_v<std::chrono::steady_clock::time_point, time_point>);

TEST_CASE("an instant plus a duration is exact where it fits") {
    CHECK(saturating_add(time_point(5ns), 7ns) == time_point(12ns));
    CHECK(saturating_add(time_point(5ns), -7ns) == time_point(-2ns));
    CHECK(saturating_add(time_point::min(), duration::max()) == time_point(-1ns));
    CHECK(saturating_add(time_point::max(), 0ns) == time_point::max());
    CHECK(saturating_add(time_point::min(), 0ns) == time_point::min());
}

TEST_CASE("an instant plus a duration stops at the ends of the scale") {
    CHECK(saturating_add(time_point(1ns), duration::max()) == time_point::max());
    CHECK(saturating_add(time_point::max(), 1ns) == time_point::max());
    CHECK(saturating_add(time_point(-2ns), duration::min()) == time_point::min());
    CHECK(saturating_add(time_point::min(), -1ns) == time_point::min());
    CHECK(saturating_add(time_point(0ns), duration::max()) == time_point::max());
    CHECK(saturating_add(time_point(0ns), duration::min()) == time_point::min());
}

using weir::duration;
using namespace std::chrono_literals;

TEST_CASE("since() is the difference of two snapshots, and 0 if they are not in order") {
    CHECK(weir::detail::since(3, 8) == 5);
    CHECK(weir::detail::since(8, 3) == 0);
    CHECK(weir::detail::since(duration(2s), duration(3s)) == 1s);
}

TEST_CASE("a sum of durations stops at the longest one, and an average of nothing is 0") {
    CHECK(weir::detail::sum(1s, 2s) == 3s);
    CHECK(weir::detail::sum(duration::max(), 1ns) == duration::max());
    CHECK(weir::detail::average(6s, 3) == 2s);
    CHECK(weir::detail::average(6s, 0) == 0s);
    CHECK(weir::detail::average(6s, UINT64_MAX) == 0s);
}

TEST_CASE("a rate is of a second, and 0 before any time has passed") {
    CHECK(weir::detail::per_second(10, 2s) == 5);
    CHECK(weir::detail::per_second(10, 0s) == 0);
}
