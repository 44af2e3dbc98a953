#include <weir/measure/recorder.hpp>

#include "support/catch.hpp"

#include <weir/measure/histogram.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>

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
static_assert(sizeof(recorder) < 1'424);

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

TEST_CASE("a recorder counts each duration in its bucket, in whatever order the octaves come") {
    std::mt19937_64 random(3);
    for (int round = 0; round < 5; ++round) {
        recorder r;
        weir::histogram all;
        for (int i = 0; i < 5'000; ++i) {
            const auto ns = static_cast<std::int64_t>(random() >> (20 + random() % 44));
            r.record(ns);
            all.record(weir::duration(ns));
        }
        const weir::histogram snapshot(r);
        CHECK(snapshot.has_quantiles());
        CHECK(snapshot == all);
    }
}

TEST_CASE("a bucket counts more durations than fit into 32 bits") {
    const auto r = std::make_unique<recorder>();
    constexpr std::uint64_t most = UINT32_MAX;
    r->record(5, UINT32_MAX);
    CHECK(r->in_bucket(5) == most);
    r->record(5);
    CHECK(r->in_bucket(5) == most + 1);
    r->record(5, UINT32_MAX);
    r->record(6, 7);
    r->record(5, 3);
    CHECK(r->in_bucket(5) == 2 * most + 4);
    CHECK(r->in_bucket(6) == 7);
    CHECK(weir::histogram(*r).count() == 2 * most + 11);
}
