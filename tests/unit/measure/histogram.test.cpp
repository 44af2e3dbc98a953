#include <weir/measure/histogram.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <thread>
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

namespace {

using scale = weir::detail::log_linear;

static_assert(scale::num_buckets == 1280);
static_assert(scale::limit == std::int64_t{1} << 44);

// Every bucket holds what lies between its bounds, and nothing else.
constexpr bool buckets_join() {
    for (std::size_t b = 0; b < scale::num_buckets; ++b) {
        if (scale::bucket_of(scale::lower_bound(b)) != b) return false;
        if (scale::bucket_of(scale::upper_bound(b)) != b) return false;
        if (b != 0 && scale::upper_bound(b - 1) + 1 != scale::lower_bound(b)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("log_linear buckets join without a gap or an overlap") {
    CHECK(buckets_join());
    CHECK(scale::lower_bound(0) == 0);
    CHECK(scale::upper_bound(scale::last) == INT64_MAX);
}

TEST_CASE("log_linear buckets are one nanosecond wide below 64 ns") {
    for (std::int64_t ns = 0; ns < 64; ++ns) {
        CAPTURE(ns);
        CHECK(scale::bucket_of(ns) == static_cast<std::size_t>(ns));
        CHECK(scale::upper_bound(static_cast<std::size_t>(ns)) == ns);
    }
    CHECK(scale::bucket_of(64) == scale::bucket_of(65));
    CHECK(scale::bucket_of(66) == scale::bucket_of(64) + 1);
}

TEST_CASE("log_linear has 32 buckets in every octave") {
    for (int k = 5; k < 43; ++k) {
        CAPTURE(k);
        const std::size_t first = scale::bucket_of(std::int64_t{1} << k);
        const std::size_t next = scale::bucket_of(std::int64_t{1} << (k + 1));
        CHECK(next - first == 32);
    }
}

TEST_CASE("log_linear is nowhere off by 1/32 of the value or more") {
    double worst = 0;
    const auto look = [&worst](std::int64_t ns) {
        const std::int64_t reported = scale::upper_bound(scale::bucket_of(ns));
        const double error = static_cast<double>(reported - ns) / static_cast<double>(ns);
        if (reported < ns || error > worst) worst = reported < ns ? 1 : error;
    };
    for (std::size_t b = 1; b < scale::last; ++b) look(scale::lower_bound(b));  // the worst of each
    std::mt19937_64 random(1);
    for (int i = 0; i < 100'000; ++i) {
        // Spread over the magnitudes; the topmost bucket has no bound to be compared with.
        const auto ns = static_cast<std::int64_t>(random() >> (20 + random() % 44));
        if (ns > 0 && ns < scale::lower_bound(scale::last)) look(ns);
    }
    CHECK(worst < 1.0 / 32);
    CHECK(worst > 0.030);  // and the bound is not an idle one
}

TEST_CASE("log_linear puts durations that are out of range into the nearest bucket") {
    CHECK(scale::bucket_of(-1) == 0);
    CHECK(scale::bucket_of(INT64_MIN) == 0);
    CHECK(scale::bucket_of(scale::limit - 1) == scale::last);
    CHECK(scale::bucket_of(scale::limit) == scale::last);
    CHECK(scale::bucket_of(INT64_MAX) == scale::last);
}

namespace {

using weir::detail::log_linear;
using weir::detail::recorder;
using totals = weir::detail::basic_recorder<weir::detail::standard_platform, false>;
static_assert(sizeof(totals) == 3 * sizeof(std::uint64_t));

std::uint64_t count_of(const recorder& r) {
    std::uint64_t n = 0;
    for (std::size_t b = 0; b < log_linear::num_buckets; ++b) n += r.in_bucket(b);
    return n;
}

}  // namespace

TEST_CASE("a recorder begins empty") {
    const auto r = std::make_unique<recorder>();
    CHECK(count_of(*r) == 0);
    CHECK(r->sum() == 0);
    CHECK(r->max() == 0);
}

TEST_CASE("a recorder counts each duration in its bucket, the sum and the maximum exactly") {
    const auto r = std::make_unique<recorder>();
    for (const std::int64_t ns : {5, 1'000, 3, 70, 70}) r->record(ns);
    CHECK(count_of(*r) == 5);
    CHECK(r->in_bucket(log_linear::bucket_of(70)) == 2);
    CHECK(r->in_bucket(3) == 1);
    CHECK(r->sum() == 1'148);
    CHECK(r->max() == 1'000);
}

TEST_CASE("a recorder counts durations that are out of range") {
    const auto r = std::make_unique<recorder>();
    r->record(-5);
    CHECK(r->in_bucket(0) == 1);
    CHECK(r->sum() == 0);
    r->record(INT64_MAX);
    CHECK(r->in_bucket(log_linear::last) == 1);
    CHECK(r->max() == static_cast<std::uint64_t>(INT64_MAX));
}

TEST_CASE("a recorder without a histogram knows count, sum and maximum, exactly") {
    totals t;
    CHECK(t.in_bucket(0) == 0);
    const auto r = std::make_unique<recorder>();
    for (const std::int64_t ns :
         {std::int64_t{5}, std::int64_t{1'000}, std::int64_t{-3}, std::int64_t{0}, std::int64_t{1} << 50}) {
        t.record(ns, 2);
        r->record(ns, 2);
    }
    t.record(7, 0);
    CHECK(t.in_bucket(0) == count_of(*r));
    CHECK(t.sum() == r->sum());
    CHECK(t.max() == r->max());
}

TEST_CASE("a recorder may be written by threads that take turns") {
    const auto r = std::make_unique<recorder>();
    for (int i = 0; i < 3; ++i) {
        std::thread([&r] {
            for (int k = 1; k <= 1'000; ++k) r->record(k);
        }).join();
    }
    CHECK(count_of(*r) == 3'000);
    CHECK(r->sum() == 3 * 500'500);
    CHECK(r->max() == 1'000);
}

TEST_CASE("a recorder is read while it is written, and no snapshot contradicts itself") {
    const auto r = std::make_unique<recorder>();
    constexpr std::uint64_t total = 100'000;
    std::atomic<bool> reading{false};
    std::thread writer([&] {
        while (!reading.load()) std::this_thread::yield();
        for (std::uint64_t i = 1; i <= total; ++i) r->record(static_cast<std::int64_t>(i));
    });
    bool counts_grow = true;
    bool covers = true;
    weir::histogram before;
    do {
        const weir::histogram now(*r);
        reading.store(true);
        counts_grow = counts_grow && before.count() <= now.count();
        // The values are 1, 2, 3, ...: n of them sum to at least n (n + 1) / 2, the greatest is n.
        const auto n = static_cast<std::int64_t>(now.count());
        covers = covers && now.sum().count() >= n * (n + 1) / 2 && now.quantile(1) == now.max();
        before = now;
    } while (before.count() < total);
    writer.join();
    CHECK(counts_grow);
    CHECK(covers);
    CHECK(weir::histogram(*r).max() == weir::duration(total));
    CHECK(weir::histogram(*r).sum() == weir::duration(total * (total + 1) / 2));
}

TEST_CASE("values that are known together count as their mean, and their sum is exact") {
    const auto both = std::make_unique<weir::detail::recorder>();
    both->record_each(33, 3, 100);
    both->record_each(0, 2, 0);
    const weir::histogram h(*both);
    CHECK(h.count() == 5);
    CHECK(h.sum().count() == 100);
    CHECK(h.max().count() == 33);
    CHECK(both->in_bucket(weir::detail::log_linear::bucket_of(33)) == 3);
    CHECK(both->in_bucket(0) == 2);
}
