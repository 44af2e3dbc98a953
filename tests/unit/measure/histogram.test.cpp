#include <weir/measure/histogram.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

using weir::duration;
using weir::histogram;
using namespace std::chrono_literals;

static_assert(std::is_trivially_copyable_v<histogram>);
static_assert(std::is_nothrow_default_constructible_v<histogram>);

TEST_CASE("a histogram begins empty and answers 0") {
    const histogram h;
    CHECK(h.empty());
    CHECK(h.count() == 0);
    CHECK(h.sum() == 0ns);
    CHECK(h.max() == 0ns);
    CHECK(h.mean() == 0ns);
    CHECK(h.quantile(0) == 0ns);
    CHECK(h.p50() == 0ns);
    CHECK(h.quantile(1) == 0ns);
}

TEST_CASE("a histogram of one duration gives it as every quantile, exactly") {
    for (const duration d : {0ns, 1ns, 63ns, 64ns, 1'001ns, 123'456'789ns}) {
        CAPTURE(d.count());
        histogram h;
        h.record(d);
        CHECK(h.count() == 1);
        CHECK(h.quantile(0) == d);
        CHECK(h.p50() == d);
        CHECK(h.p99() == d);
        CHECK(h.max() == d);
        CHECK(h.mean() == d);
    }
}

TEST_CASE("a quantile is the smallest duration that covers its share") {
    histogram h;
    for (int i = 1; i <= 50; ++i) h.record(duration(i));  // exact in this range
    CHECK(h.quantile(0) == 1ns);
    CHECK(h.quantile(0.02) == 1ns);
    CHECK(h.quantile(0.021) == 2ns);
    CHECK(h.p50() == 25ns);
    CHECK(h.p90() == 45ns);
    CHECK(h.p99() == 50ns);
    CHECK(h.quantile(1) == 50ns);
    CHECK(h.mean() == 25ns);
    CHECK(h.sum() == 1'275ns);
}

TEST_CASE("a quantile does not move by the rounding of floating point") {
    histogram h;
    for (int i = 0; i < 100; ++i) h.record(duration(i < 7 ? 1 : 2));
    CHECK(0.07 * 100 > 7);  // one more than the rank that is meant
    CHECK(h.quantile(0.07) == 1ns);
    CHECK(h.quantile(0.0701) == 2ns);
}

TEST_CASE("a quantile outside 0 to 1 is the nearer end") {
    histogram h;
    h.record(3ns);
    h.record(9ns);
    CHECK(h.quantile(-1) == 3ns);
    CHECK(h.quantile(2) == 9ns);
    CHECK(h.quantile(std::numeric_limits<double>::quiet_NaN()) == 3ns);
}

TEST_CASE("a quantile is never too small, and too great by less than 1/32") {
    std::mt19937_64 random(7);
    for (int round = 0; round < 20; ++round) {
        histogram h;
        std::vector<std::int64_t> all;
        const int magnitudes = 1 + round * 2;
        for (int i = 0; i < 2'000; ++i) {
            const auto ns = static_cast<std::int64_t>(
                random() >> (63 - random() % static_cast<std::uint64_t>(magnitudes)));
            all.push_back(ns);
            h.record(duration(ns));
        }
        std::sort(all.begin(), all.end());
        for (const double q : {0.001, 0.25, 0.5, 0.9, 0.99, 0.999}) {
            CAPTURE(round, q);
            const auto rank = static_cast<std::size_t>(std::ceil(q * 2'000 - 1e-9));
            const std::int64_t truth = all[rank - 1];
            const std::int64_t told = h.quantile(q).count();
            CHECK(told >= truth);
            CHECK(32 * (told - truth) <= truth);
        }
        CHECK(h.max().count() == all.back());
    }
}

TEST_CASE("a histogram counts a duration many times at once") {
    histogram once;
    once.record(10ns, 3);
    once.record(0ns, 2);
    once.record(99ns, 0);
    histogram each;
    for (const duration d : {0ns, 10ns, 0ns, 10ns, 10ns}) each.record(d);
    CHECK(once == each);
    CHECK(once.max() == 10ns);
}

TEST_CASE("a histogram counts durations that are out of range") {
    histogram h;
    h.record(-1ns);
    CHECK(h.max() == 0ns);
    h.record(10h);
    h.record(6h);
    CHECK(h.p50() == 10h);  // from 4.9 hours on only the longest is known
    CHECK(h.max() == 10h);
    h.record(duration::max(), 5);
    CHECK(h.sum() == duration::max());
    CHECK(h.mean() >= 0ns);
}

TEST_CASE("merged histograms are the histogram of all") {
    std::mt19937_64 random(3);
    histogram a;
    histogram b;
    histogram both;
    for (int i = 0; i < 500; ++i) {
        const duration d(static_cast<std::int64_t>(random() % 1'000'000));
        (i % 3 == 0 ? a : b).record(d);
        both.record(d);
    }
    CHECK(a + b == both);
    CHECK(b + a == both);
    a += b;
    CHECK(a == both);
    CHECK(a + histogram() == both);
}

TEST_CASE("the difference of two snapshots holds what was added between them") {
    histogram before;
    before.record(1ms);
    before.record(5ms);
    histogram after = before;
    after.record(100ns, 3);
    after.record(200ns);
    const histogram lap = after - before;
    CHECK(lap.count() == 4);
    CHECK(lap.sum() == 500ns);
    CHECK(lap.mean() == 125ns);
    CHECK(lap.p50() == 101ns);  // the bucket is 100 and 101
    // The longest of the lap is known by its bucket, 200 to 203.
    CHECK(lap.max() == 203ns);
    CHECK(lap.quantile(1) == 203ns);
    CHECK(lap + before - before == lap);
    CHECK((after - after).empty());
    CHECK((after - after).max() == 0ns);
    CHECK((after - after).sum() == 0ns);
    CHECK(after - histogram() == after);
}

TEST_CASE("a difference never says more than the later snapshot's maximum") {
    histogram before;
    before.record(1ns);
    histogram after = before;
    after.record(200ns);
    CHECK((after - before).max() == 200ns);
}

TEST_CASE("a difference that would be negative is empty") {
    histogram small;
    small.record(7ns);
    histogram great = small;
    great.record(7ns, 9);
    great.record(1h);
    CHECK((small - great).empty());
    CHECK(small - great == histogram());
}

TEST_CASE("a histogram adds snapshots of recorders") {
    const auto a = std::make_unique<weir::detail::recorder>();
    const auto b = std::make_unique<weir::detail::recorder>();
    histogram expected;
    for (int i = 0; i < 100; ++i) {
        (i % 2 == 0 ? *a : *b).record(i * i);
        expected.record(duration(i * i));
    }
    histogram h(*a);
    CHECK(h.count() == 50);
    CHECK(h.max() == 9'604ns);
    h.add(*b);
    CHECK(h == expected);
    h.add(weir::detail::recorder());
    CHECK(h == expected);
}

TEST_CASE("a histogram of totals knows count, sum, mean and maximum, and no quantile") {
    const histogram h = histogram::without_quantiles(4, 100ns, 70ns);
    CHECK_FALSE(h.has_quantiles());
    CHECK_FALSE(h.empty());
    CHECK(h.count() == 4);
    CHECK(h.sum() == 100ns);
    CHECK(h.mean() == 25ns);
    CHECK(h.max() == 70ns);
    CHECK(h.quantile(1) == 70ns);
    CHECK(h.quantile(0) == 0ns);
    CHECK(h.p99() == 0ns);
    CHECK(h != histogram::without_quantiles(4, 100ns, 71ns));
    CHECK(histogram::without_quantiles(0, 3ns, 3ns) == histogram());
    CHECK(histogram().has_quantiles());
}

TEST_CASE("totals are merged with histograms and subtracted from them, and the counts stay right") {
    histogram known;
    known.record(10ns, 3);
    known.record(90ns);
    const histogram totals = histogram::without_quantiles(2, 50ns, 40ns);
    const histogram both = known + totals;
    CHECK(both == totals + known);
    CHECK(both.count() == 6);
    CHECK(both.sum() == 170ns);
    CHECK(both.max() == 90ns);
    CHECK_FALSE(both.has_quantiles());
    CHECK((both - totals).has_quantiles());
    CHECK(both - totals == known);
    const histogram lap = both - known;
    CHECK(lap.count() == 2);
    CHECK(lap.sum() == 50ns);
    CHECK_FALSE(lap.has_quantiles());
    CHECK(lap.max() == 90ns);  // of the whole series
    CHECK((both - both).empty());
    CHECK(both - both == histogram());
    CHECK((totals - both).empty());
}

TEST_CASE("a histogram adds recorders that keep totals only") {
    weir::detail::basic_recorder<weir::detail::standard_platform, false> a;
    CHECK(histogram(a) == histogram());
    a.record(30, 2);
    a.record(0);
    histogram h(a);
    CHECK(h == histogram::without_quantiles(3, 60ns, 30ns));
    h.add(a);
    CHECK(h == histogram::without_quantiles(6, 120ns, 30ns));
}

TEST_CASE("a sum of many that fits is exact, also where a little more wouldn't fit") {
    histogram many;
    many.record(4ns, UINT64_MAX / 5 + 1);
    const histogram before = many;
    many.record(10ns);
    CHECK((many - before).sum() == 10ns);
}

TEST_CASE("a histogram is made again of its buckets, and equals the first") {
    weir::histogram h;
    for (const auto ns : {0, 5, 5, 63, 64, 1000, 123456789}) h.record(weir::duration(ns));
    h.record(std::chrono::hours(24), 2);  // in the last bucket
    const auto buckets = h.buckets();
    REQUIRE(buckets.size() == 7);
    CHECK(buckets[1] == weir::histogram_bucket{weir::duration(5), weir::duration(5), 2});
    CHECK(buckets[3] == weir::histogram_bucket{weir::duration(64), weir::duration(65), 1});
    CHECK(buckets[6].greatest == weir::duration::max());
    CHECK(weir::histogram::of(buckets, h.count(), h.sum(), h.max()) == h);
    h += weir::histogram::without_quantiles(3, weir::duration(7), weir::duration(4));
    CHECK(weir::histogram::of(h.buckets(), h.count(), h.sum(), h.max()) == h);
    CHECK(weir::histogram::of({}, 0, weir::duration(0), weir::duration(0)) == weir::histogram());
    CHECK(weir::histogram().buckets().empty());
}

TEST_CASE("buckets that are none of a histogram are rejected") {
    using weir::duration;
    using weir::histogram;
    CHECK_THROWS_AS(histogram::of({{duration(65), duration(65), 1}}, 1, duration(65), duration(65)),
                    std::invalid_argument);
    CHECK_THROWS_AS(histogram::of({{duration(-1), duration(0), 1}}, 1, duration(0), duration(0)),
                    std::invalid_argument);
    CHECK_THROWS_AS(histogram::of({{duration(5), duration(5), 2}}, 1, duration(5), duration(5)),
                    std::invalid_argument);
}
