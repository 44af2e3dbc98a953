#include <weir/cuda/usual_times.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>

using weir::cuda::detail::usual_times;

namespace {
constexpr std::int64_t us = 1'000;
constexpr std::int64_t lead = usual_times::lead;
constexpr std::size_t mib = std::size_t{1} << 20U;
}  // namespace

TEST_CASE("nothing is known at first; then the shortest time that was seen") {
    usual_times times;
    CHECK(times.of(0) == usual_times::unknown);
    CHECK(times.of(mib) == usual_times::unknown);
    times.learn(0, 700 * us, 0);
    CHECK(times.of(0) == 700 * us);
    times.learn(0, 600 * us, 0);
    CHECK(times.of(0) == 600 * us);
    CHECK(times.of(4) == usual_times::unknown);
}

TEST_CASE("a longer time counts for an eighth, and not at all if the end may have been much earlier") {
    usual_times times;
    times.learn(0, 600 * us, 0);
    times.learn(0, 680 * us, lead);
    CHECK(times.of(0) == 610 * us);
    times.learn(0, 1690 * us, 3 * lead);
    CHECK(times.of(0) == 610 * us);
    times.learn(0, 0, 0);
    times.learn(0, -1, 0);
    CHECK(times.of(0) == 610 * us);
}

TEST_CASE(
    "a copy of a size that was never seen takes as long as its bytes do by the rate of the last large one") {
    usual_times times;
    times.learn(100, 9 * us, 0);
    CHECK(times.of(32 * mib) == usual_times::unknown);
    times.learn(mib, 20 * us, 0);
    CHECK(times.of(mib) == 20 * us);
    CHECK(times.of(32 * mib) == 640 * us);
    CHECK(times.of(1000) == usual_times::unknown);
    times.learn(32 * mib, 600 * us, 0);
    CHECK(times.of(32 * mib) == 600 * us);
    CHECK(times.of(16 * mib) == 300 * us);
}

TEST_CASE(
    "whoever waits sleeps until shortly before the end, looks all the time for a while, and then seldom") {
    constexpr std::int64_t begun = 1'000'000'000;
    constexpr std::int64_t usual = 1600 * us;
    constexpr std::int64_t before = lead + 50 * us;
    constexpr std::int64_t behind = lead + 200 * us;
    constexpr std::int64_t period = 50 * us;
    const auto next = [](std::int64_t now) { return usual_times::next_look(begun, usual, now, period); };
    CHECK(next(begun) == begun + usual - before);
    CHECK(next(begun + usual - before - 1) == begun + usual - before);
    for (const std::int64_t at : {-before, std::int64_t{0}, behind - 1}) {
        CHECK(next(begun + usual + at) == begun + usual + at);
    }
    CHECK(next(begun + usual + behind) == begun + usual + behind + period);
    // What takes less than the margin is looked at all the time.
    CHECK(usual_times::next_look(begun, 20 * us, begun + 1, period) == begun + 1);
}
