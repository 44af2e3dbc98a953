#include <weir/measure/stopwatch.hpp>

#include "support/catch.hpp"

#include <weir/measure/histogram.hpp>
#include <weir/measure/recorder.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace {

using weir::detail::recorder;
using weir::detail::stopwatch;

// Invocations of `ns` each, read whenever the watch asks; what a stage does. Returns how many readings.
int run(stopwatch& watch, recorder& times, int invocations, std::int64_t ns) {
    std::int64_t spent = 0;
    int readings = 0;
    for (int i = 0; i < invocations; ++i) {
        spent += ns;
        if (!watch.count_invocation()) continue;
        watch.read(spent, times);
        spent = 0;
        ++readings;
    }
    if (watch.is_behind()) watch.read(spent, times);
    return readings;
}

}  // namespace

TEST_CASE("long invocations are timed one by one, exactly") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    CHECK(run(watch, *times, 100, 50'000) == 100);
    const weir::histogram h(*times);
    CHECK(h.count() == 100);
    CHECK(h.sum().count() == 100 * 50'000);
    CHECK(h.max().count() == 50'000);
}

TEST_CASE("short invocations share a reading, and the sum and the count stay exact") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    CHECK(run(watch, *times, 10'000, 7) < 1'000);
    const weir::histogram h(*times);
    CHECK(h.count() == 10'000);
    CHECK(h.sum().count() == 70'000);
    CHECK(h.max().count() == 7);
}

TEST_CASE("a sum that the count doesn't divide is not rounded") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 100, 10);
    while (!watch.count_invocation()) {
    }
    watch.read(163, *times);
    CHECK(times->sum() == 1'000 + 163);
}

TEST_CASE("one long invocation among short ones is timed separately") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 10);
    std::int64_t spent = 1'000'000;  // the first of those that share a reading
    bool due = watch.count_invocation();
    for (; !due; due = watch.count_invocation()) spent += 10;
    watch.read(spent, *times);
    const weir::histogram h(*times);
    CHECK(h.max().count() == 1'000'000);
    CHECK(h.quantile(0.99).count() == 10);
    // What follows is looked at one by one again.
    CHECK(watch.count_invocation());
}

TEST_CASE("a stopwatch that times each invocation reads the clock for each") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch(true);
    for (int i = 0; i < 100; ++i) {
        REQUIRE(watch.count_invocation());
        watch.read(i % 2, *times);
    }
    CHECK(times->sum() == 50);
    CHECK(times->in_bucket(0) == 50);
}

TEST_CASE("a failure's time is not among the times; those that shared its reading keep theirs") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 10);
    const std::uint64_t before = times->sum();
    REQUIRE_FALSE(watch.count_invocation());
    REQUIRE_FALSE(watch.count_invocation());
    CHECK(watch.read_failure(20 + 5'000, *times) == 5'000);
    CHECK(times->sum() == before + 20);
    CHECK(weir::histogram(*times).count() == 1'002);
    CHECK_FALSE(watch.is_behind());
}

TEST_CASE("time outside of invocations needs no reading of its own") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    CHECK_FALSE(watch.is_behind());
    watch.record_other_work();
    CHECK(watch.is_behind());
    watch.read(500, *times);
    CHECK_FALSE(watch.is_behind());
    CHECK(weir::histogram(*times).count() == 0);
}

TEST_CASE("two long invocations in a row are both told from the short ones") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 10);
    for (int i = 0; i < 2; ++i) {
        std::int64_t spent = 12'000;  // of all that share a reading that is less than a microsecond each
        for (bool due = watch.count_invocation(); !due; due = watch.count_invocation()) spent += 10;
        watch.read(spent, *times);
    }
    const weir::histogram h(*times);
    CHECK(h.max().count() == 12'000);
    // The second one was looked at alone.
    CHECK(h.count() == 1'000 + 16 + 1);
    CHECK(h.sum().count() == 10'000 + 12'000 + 15 * 10 + 12'000);
}

TEST_CASE("the number of invocations that share a reading at most doubles, up to sixteen") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    for (const int shared : {1, 2, 4, 8, 16, 16}) {
        int n = 1;
        while (!watch.count_invocation()) ++n;
        CHECK(n == shared);
        watch.read(n, *times);
    }
    // As many as fit into 8 us, going by the last ones.
    for (const auto& [shared, ns] : {std::pair(16, 400), std::pair(16, 1'000), std::pair(7, 1'000)}) {
        int n = 1;
        while (!watch.count_invocation()) ++n;
        CHECK(n == shared);
        watch.read(n * ns, *times);
    }
}

TEST_CASE("a clock that was set, back or ahead as far as it goes, leaves times that can be") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch(true);
    for (const std::int64_t spent : {std::int64_t{-1}, INT64_MIN, INT64_MAX, std::int64_t{10}}) {
        REQUIRE(watch.count_invocation());
        watch.read(spent, *times);
    }
    CHECK(weir::histogram(*times).count() == 4);
    CHECK(times->max() == INT64_MAX);
    CHECK(times->in_bucket(0) == 2);
}

TEST_CASE("as many invocations share a reading as fit into 8 us, at most 16") {
    constexpr std::int64_t takes[] = {
        0, 1, 498, 499, 500, 501, 999, 2'000, 7'998, 7'999, 8'000, 5'000'000'000, INT64_MAX / 1'000};
    for (const std::int64_t ns : takes) {
        const auto times = std::make_unique<recorder>();
        stopwatch watch;
        run(watch, *times, 64, ns);  // it knows them
        const std::int64_t fit = 8'000 / (ns + 1);
        const std::int64_t each = fit < 1 ? 1 : fit > 16 ? 16 : fit;
        CHECK(run(watch, *times, static_cast<int>(10 * each), ns) == 10);
    }
}

TEST_CASE("several that took more than fits into 32 bits are not taken for short ones") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 64, 10);
    for (int i = 0; i < 15; ++i) CHECK_FALSE(watch.count_invocation());
    CHECK(watch.count_invocation());
    watch.read(UINT32_MAX + std::int64_t{161}, *times);
    CHECK(watch.count_invocation());  // it is timed alone
}

TEST_CASE("between readings it tells how long ago the last one was, by how long invocations usually take") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 20);
    CHECK(watch.can_estimate());
    CHECK(watch.estimate() == 0);
    REQUIRE_FALSE(watch.count_invocation());
    REQUIRE_FALSE(watch.count_invocation());
    CHECK(watch.estimate() == 40);
    watch.record_other_work();
    CHECK_FALSE(watch.can_estimate());
    watch.read(100, *times);
    CHECK(watch.can_estimate());
    CHECK(watch.estimate() == 0);
}

TEST_CASE("an invocation of the sample has a reading of its own, and one before it") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 10);
    CHECK_FALSE(watch.is_sampled_next());
    watch.sample_after(21);
    int invocations = 0;
    int readings = 0;
    while (!watch.is_sampled_next()) {
        ++invocations;
        if (!watch.count_invocation()) continue;
        watch.read(10, *times);
        ++readings;
    }
    CHECK(invocations == 21);
    CHECK(readings == 2);  // after 16, and after 5
    CHECK(watch.count_invocation());
    watch.read(10, *times);
    CHECK(watch.is_sampled_next());  // until the next one is chosen
    watch.sample_after(0);
    CHECK(watch.is_sampled_next());
    watch.sample_after(1);
    CHECK_FALSE(watch.is_sampled_next());
    CHECK(watch.count_invocation());
    watch.read(10, *times);
    CHECK(watch.is_sampled_next());
}

TEST_CASE(
    "failed invocations, and those with readings of their own, count on the way to the next of the sample") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 10);
    watch.sample_after(5);
    REQUIRE_FALSE(watch.count_invocation());
    static_cast<void>(watch.read_failure(20, *times));
    watch.count_timed_invocation();
    watch.count_timed_invocation();
    CHECK_FALSE(watch.is_sampled_next());
    CHECK(watch.count_invocation());
    watch.read(10, *times);
    CHECK(watch.is_sampled_next());
}
