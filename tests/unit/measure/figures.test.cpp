#include <weir/measure/figures.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cstdint>

using weir::duration;
using namespace std::chrono_literals;

TEST_CASE("what only grows has a difference, and none where the snapshots are not in order") {
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
