#include <weir/channel/choice_operation.hpp>

#include "support/catch.hpp"

#include <weir/measure/clock.hpp>

#include <chrono>

using namespace std::chrono_literals;
using weir::detail::wait_limit;

// What it does is tested where it is used: timed_operations.test.cpp, select.test.cpp.

TEST_CASE("a limit is none, a time from now on, or an instant") {
    const weir::time_point now = weir::time_point(5s);
    CHECK(wait_limit().is_for_ever());
    CHECK(wait_limit(weir::duration::max()).is_for_ever());
    CHECK(wait_limit(weir::time_point::max()).is_for_ever());
    CHECK_FALSE(wait_limit(weir::duration(1h)).is_for_ever());
    CHECK_FALSE(wait_limit(now).is_for_ever());
    CHECK(wait_limit(weir::duration(2s)).after(now) == now + 2s);
    CHECK(wait_limit(now + 1s).after(now) == now + 1s);
    CHECK(wait_limit(weir::duration::max() - 1ns).after(now) == weir::time_point::max());
    CHECK(wait_limit(weir::duration(0)).is_nothing());
    CHECK(wait_limit(weir::duration(-1s)).is_nothing());
    CHECK_FALSE(wait_limit(weir::duration(1ns)).is_nothing());
    CHECK_FALSE(wait_limit(now).is_nothing());
}
