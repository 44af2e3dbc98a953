#include <weir/measure/log_linear.hpp>

#include "support/catch.hpp"

#include <cstdint>
#include <random>

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

TEST_CASE("log_linear puts what is out of range into the nearest bucket") {
    CHECK(scale::bucket_of(-1) == 0);
    CHECK(scale::bucket_of(INT64_MIN) == 0);
    CHECK(scale::bucket_of(scale::limit - 1) == scale::last);
    CHECK(scale::bucket_of(scale::limit) == scale::last);
    CHECK(scale::bucket_of(INT64_MAX) == scale::last);
}
