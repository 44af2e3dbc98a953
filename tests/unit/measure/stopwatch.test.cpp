#include <weir/measure/stopwatch.hpp>

#include "support/catch.hpp"

#include <weir/measure/histogram.hpp>

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
        if (!watch.finished_one()) continue;
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
    while (!watch.finished_one()) {
    }
    watch.read(163, *times);
    CHECK(times->sum() == 1'000 + 163);
}

TEST_CASE("one long invocation among short ones is told from them") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 10);
    std::int64_t spent = 1'000'000;  // the first of those that share a reading
    bool due = watch.finished_one();
    for (; !due; due = watch.finished_one()) spent += 10;
    watch.read(spent, *times);
    const weir::histogram h(*times);
    CHECK(h.max().count() == 1'000'000);
    CHECK(h.quantile(0.99).count() == 10);
    // What follows is looked at one by one again.
    CHECK(watch.finished_one());
}

TEST_CASE("where each is to be timed alone, each is") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch(true);
    for (int i = 0; i < 100; ++i) {
        REQUIRE(watch.finished_one());
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
    REQUIRE_FALSE(watch.finished_one());
    REQUIRE_FALSE(watch.finished_one());
    CHECK(watch.read_failure(20 + 5'000, *times) == 5'000);
    CHECK(times->sum() == before + 20);
    CHECK(weir::histogram(*times).count() == 1'002);
    CHECK_FALSE(watch.is_behind());
}

TEST_CASE("what is no invocation only has to be caught up with") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    CHECK_FALSE(watch.is_behind());
    watch.went_on();
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
        for (bool due = watch.finished_one(); !due; due = watch.finished_one()) spent += 10;
        watch.read(spent, *times);
    }
    const weir::histogram h(*times);
    CHECK(h.max().count() == 12'000);
    // The second one was looked at alone.
    CHECK(h.count() == 1'000 + 16 + 1);
    CHECK(h.sum().count() == 10'000 + 12'000 + 15 * 10 + 12'000);
}

TEST_CASE("how many share a reading at most doubles, up to sixteen") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    for (const int shared : {1, 2, 4, 8, 16, 16}) {
        int n = 1;
        while (!watch.finished_one()) ++n;
        CHECK(n == shared);
        watch.read(n, *times);
    }
    // As many as fit into 8 us, going by the last ones.
    for (const auto& [shared, ns] : {std::pair(16, 400), std::pair(16, 1'000), std::pair(7, 1'000)}) {
        int n = 1;
        while (!watch.finished_one()) ++n;
        CHECK(n == shared);
        watch.read(n * ns, *times);
    }
}

TEST_CASE("a clock that was set, back or ahead as far as it goes, leaves times that can be") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch(true);
    for (const std::int64_t spent : {std::int64_t{-1}, INT64_MIN, INT64_MAX, std::int64_t{10}}) {
        REQUIRE(watch.finished_one());
        watch.read(spent, *times);
    }
    CHECK(weir::histogram(*times).count() == 4);
    CHECK(times->max() == INT64_MAX);
    CHECK(times->in_bucket(0) == 2);
}

TEST_CASE("as many share a reading as fit into 8 us, of 16 at most") {
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
    for (int i = 0; i < 15; ++i) CHECK_FALSE(watch.finished_one());
    CHECK(watch.finished_one());
    watch.read(UINT32_MAX + std::int64_t{161}, *times);
    CHECK(watch.finished_one());  // it is timed alone
}

TEST_CASE("between readings it tells how long ago the last one was, by how long invocations usually take") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 20);
    CHECK(watch.can_tell());
    CHECK(watch.unread_time() == 0);
    REQUIRE_FALSE(watch.finished_one());
    REQUIRE_FALSE(watch.finished_one());
    CHECK(watch.unread_time() == 40);
    watch.went_on();
    CHECK_FALSE(watch.can_tell());
    watch.read(100, *times);
    CHECK(watch.can_tell());
    CHECK(watch.unread_time() == 0);
}
