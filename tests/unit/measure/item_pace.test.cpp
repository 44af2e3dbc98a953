#include <weir/measure/item_pace.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

using weir::duration;
using weir::item_pace;
using weir::detail::pace_meter;

namespace {

// The items of `slots` that work at the same time, each taking what `next` gives, begin in this order.
template <class Next>
std::optional<item_pace> pace_of(int items, std::size_t slots, Next next) {
    pace_meter meter;
    meter.restart(slots);
    std::vector<std::int64_t> free(slots, 0);
    for (int i = 0; i < items; ++i) {
        std::int64_t& first = *std::ranges::min_element(free);
        meter.count_item([now = first] { return now; });
        first += next();
    }
    CHECK(meter.begun() == static_cast<std::uint64_t>(items));
    return meter.pace();
}

// Exponentially distributed with a mean of 1 ms, the same everywhere.
class chance {
  public:
    explicit chance(std::uint64_t seed) : bits_(seed) {}
    std::int64_t operator()() {
        const double u = (static_cast<double>(bits_() >> 11) + 0.5) / 9007199254740992.0;
        return static_cast<std::int64_t>(-std::log(u) * 1e6);
    }

  private:
    std::mt19937_64 bits_;
};

item_pace made_of(std::size_t blocks, double mean, double variance) {
    item_pace p;
    p.num_items = p.num_blocks = blocks;
    p.elapsed = duration(static_cast<std::int64_t>(static_cast<double>(blocks) * mean));
    p.variance = variance;
    return p;
}

}  // namespace

TEST_CASE("a pace is that of the items while each slot has one, exact where all take equally long") {
    for (const std::size_t slots : {1U, 4U, 32U}) {
        for (const int items : {128, 352, 5000}) {
            const auto p = pace_of(items, slots, [] { return 1'000'000; });
            REQUIRE(p.has_value());
            CHECK(p->rate() == Catch::Approx(1000. * static_cast<double>(slots)));
            CHECK(p->variance == 0);
            CHECK(p->num_blocks >= 3);
            CHECK(p->num_blocks <= 40);
            CHECK(p->num_items <= static_cast<std::uint64_t>(items));
            CHECK(p->rate_interval()->low == p->rate());
            CHECK(p->rate_interval()->high == p->rate());
        }
    }
}

TEST_CASE("a pace of many items has 20 to 40 blocks, which are all of them but for a part of one") {
    for (int items = 41; items < 3000; items += 7) {
        const auto p = pace_of(items, 1, [] { return 1000; });
        REQUIRE(p.has_value());
        CHECK(p->num_blocks >= 20);
        CHECK(p->num_blocks <= 40);
        CHECK(p->num_items + p->num_items / p->num_blocks >= static_cast<std::uint64_t>(items - 1));
        CHECK(p->elapsed == duration(static_cast<std::int64_t>(p->num_items) * 1000));
    }
}

TEST_CASE("a pace needs four items for each slot, and time that passes") {
    CHECK_FALSE(pace_of(3, 1, [] { return 1; }).has_value());
    CHECK(pace_of(4, 1, [] { return 1; }).has_value());
    CHECK_FALSE(pace_of(127, 32, [] { return 1; }).has_value());
    CHECK(pace_of(128, 32, [] { return 1; }).has_value());
    const auto instant = pace_of(100, 2, [] { return 0; });
    REQUIRE(instant.has_value());
    CHECK(instant->rate() == 0);
    CHECK_FALSE(instant->rate_interval().has_value());
    CHECK_FALSE(weir::detail::speed_up(*instant, *instant).has_value());
}

TEST_CASE("the interval of a rate is Student's, for the logarithm") {
    // Blocks of 1, 2 and 3 ms: mean 2, standard error 1 / sqrt(3), t of 2 degrees of freedom 4.303.
    pace_meter meter;
    meter.restart(1);
    for (const std::int64_t t : {0, 1'000'000, 3'000'000, 6'000'000}) meter.count_item([t] { return t; });
    const auto p = meter.pace();
    REQUIRE(p.has_value());
    CHECK(p->rate() == Catch::Approx(500));
    const double factor = std::exp(4.303 / 2 / std::sqrt(3));
    CHECK(p->rate_interval()->low == Catch::Approx(500 / factor));
    CHECK(p->rate_interval()->high == Catch::Approx(500 * factor));
}

TEST_CASE("the quantiles of the t distribution are those of the tables") {
    for (const auto& [freedom, t] : {std::pair(1., 12.706),
                                     {2., 4.303},
                                     {9., 2.262},
                                     {10., 2.228},
                                     {12., 2.179},
                                     {20., 2.086},
                                     {30., 2.042},
                                     {60., 2.000},
                                     {1e9, 1.960}}) {
        CAPTURE(freedom);
        CHECK(weir::detail::t_quantile(freedom) == Catch::Approx(t).margin(0.001));
    }
    CHECK(weir::detail::t_quantile(0.5) == 12.706);
    CHECK(weir::detail::t_quantile(2.9) == 4.303);
}

TEST_CASE("roots and exponentials are right to nine digits") {
    for (const double x : {1e-12, 0.3, 1., 2., 1234.5, 1e12}) {
        CHECK(weir::detail::root(x) == Catch::Approx(std::sqrt(x)).epsilon(1e-9));
    }
    CHECK(weir::detail::root(0) == 0);
    CHECK(weir::detail::root(-1) == 0);
    for (const double x : {0., 1e-9, 0.4, 0.6, 3., 50., 699., -0.4, -0.6, -5.5, -50., -699.}) {
        CHECK(weir::detail::exponential(x) == Catch::Approx(std::exp(x)).epsilon(1e-9));
    }
    CHECK(weir::detail::exponential(-1e6) < 1e-300);
}

TEST_CASE("a speed-up has Welch's degrees of freedom") {
    // All the chance is in the one of 3 blocks: 2 degrees of freedom.
    const auto i = weir::detail::speed_up(made_of(3, 1e6, 0.01), made_of(41, 2e6, 0));
    REQUIRE(i.has_value());
    CHECK(i->high == Catch::Approx(2 * std::exp(4.303 * 0.1)).epsilon(1e-4));
    CHECK(i->low == Catch::Approx(2 / std::exp(4.303 * 0.1)).epsilon(1e-4));
    CHECK_FALSE(i->holds(1));
    // As much in each of two of 6: 10.
    const auto both = weir::detail::speed_up(made_of(6, 1e6, 0.01), made_of(6, 1e6, 0.01));
    CHECK(both->high == Catch::Approx(std::exp(2.228 * std::sqrt(0.02))).epsilon(1e-3));
    CHECK(both->holds(1));
}

TEST_CASE("95 % of the confidence intervals contain the true rate, with any number of slots") {
    for (const std::size_t slots : {1U, 4U, 16U}) {
        int hold = 0;
        for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
            const auto p = pace_of(static_cast<int>(slots) * 40, slots, chance(seed * 7919 + slots));
            hold += p->rate_interval()->holds(1000. * static_cast<double>(slots)) ? 1 : 0;
        }
        CAPTURE(slots, hold);
        CHECK(hold >= 920);
        CHECK(hold <= 985);
    }
}

TEST_CASE(
    "where nothing is faster, 5 in 100 trials at most say so, and where it is twice as fast nearly all") {
    int wrong = 0;
    int right = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        const auto one = pace_of(108, 1, chance(seed));
        const auto same = pace_of(132, 1, chance(seed + 1'000'000));
        const auto two = pace_of(132, 2, chance(seed + 2'000'000));
        wrong += weir::detail::speed_up(*same, *one)->holds(1) ? 0 : 1;
        right += weir::detail::speed_up(*two, *one)->low > 1 ? 1 : 0;
    }
    CAPTURE(wrong, right);
    CHECK(wrong <= 70);
    CHECK(right >= 980);
}
