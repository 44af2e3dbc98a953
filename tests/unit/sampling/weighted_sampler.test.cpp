#include <weir/sampling/weighted_sampler.hpp>

#include "support/catch.hpp"

#include <weir/platform/numbers.hpp>
#include <weir/sampling/checkpoint.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using weir::draw;
using weir::weighted_sampler;
using weir::detail::alias_table;
using weir::detail::splitmix64;
using u64 = std::uint64_t;
using numbers = std::vector<u64>;

namespace {

// How often each is picked, of one pick in the middle of each square of a grid: a column of squares for
// each index, 1024 squares high.
std::vector<int> picks(const alias_table& table) {
    const std::uint64_t n = table.size();
    std::vector<int> times(n, 0);
    for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t which = UINT64_MAX / n * i + UINT64_MAX / n / 2;
        for (std::uint64_t h = 0; h < 1024; ++h) {
            ++times[table.pick(which, (h << 54) + (std::uint64_t{1} << 53))];
        }
    }
    return times;
}

}  // namespace

TEST_CASE("each is picked as often as its weight says, exactly") {
    CHECK(picks(alias_table(std::vector<double>{1})) == std::vector<int>{1024});
    CHECK(picks(alias_table(std::vector<double>{1, 1})) == std::vector<int>{1024, 1024});
    CHECK(picks(alias_table(std::vector<double>{1, 3})) == std::vector<int>{512, 1536});
    CHECK(picks(alias_table(std::vector<double>{1, 2, 3, 2})) == std::vector<int>{512, 1024, 1536, 1024});
    CHECK(picks(alias_table(std::vector<double>{0, 4, 0, 0})) == std::vector<int>{0, 4096, 0, 0});
    CHECK(picks(alias_table(std::vector<double>{8, 4, 2, 1, 1, 0, 0, 0})) ==
          std::vector<int>{4096, 2048, 1024, 512, 512, 0, 0, 0});
}

TEST_CASE("the unit of weights is of no matter") {
    const std::vector<double> weights = {8, 4, 2, 1, 1, 0, 0, 0};
    const auto expected = picks(alias_table(weights));
    for (const int exponent : {-1'070, -500, 1, 700, 1'020}) {
        std::vector<double> scaled;
        for (const double w : weights) scaled.push_back(std::ldexp(w, exponent));
        const alias_table table(scaled);
        CAPTURE(exponent);
        CHECK(picks(table) == expected);
        CHECK(table.checksum() == alias_table(weights).checksum());
    }
}

TEST_CASE("many weights are met within what chance allows") {
    std::vector<double> weights;
    double sum = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        weights.push_back(static_cast<double>(1 + splitmix64(3, i) % 1'000) / 7);
        sum += weights.back();
    }
    const alias_table table(weights);
    std::vector<double> times(weights.size());
    constexpr double num_picks = 400'000;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(num_picks); ++i) {
        ++times[table.pick(splitmix64(1, i), splitmix64(2, i))];
    }
    double chi_square = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double mean = weights[i] / sum * num_picks;
        chi_square += (times[i] - mean) * (times[i] - mean) / mean;
    }
    CHECK(std::abs(chi_square - 199) / std::sqrt(2 * 199.0) < 4);
}

TEST_CASE("a weight of 0 is never picked, whatever the numbers") {
    const alias_table table(std::vector<double>{0, 1e-3, 0, 1e3, 0});
    bool good = true;
    for (std::uint64_t i = 0; i <= 1'000; ++i) {
        for (const std::uint64_t which : {UINT64_MAX / 1'000 * i, splitmix64(5, i)}) {
            for (const std::uint64_t height : {std::uint64_t{0}, UINT64_MAX, splitmix64(6, i)}) {
                good = good && table.pick(which, height) % 2 == 1;
            }
        }
    }
    CHECK(good);
}

TEST_CASE("tables of other weights have other checksums") {
    const std::vector<double> weights = {1, 2, 3};
    CHECK(alias_table(weights).checksum() == alias_table(weights).checksum());
    CHECK(alias_table(weights).checksum() != alias_table(std::vector<double>{1, 3, 2}).checksum());
    CHECK(alias_table(weights).checksum() != alias_table(std::vector<double>{1, 2, 3, 0}).checksum());
    CHECK(alias_table(weights).checksum() == 1578143597U);  // for ever
}

TEST_CASE("weights that are none are refused") {
    const auto make = [](std::vector<double> weights) { return alias_table(weights); };
    CHECK_THROWS_AS(make({}), std::invalid_argument);
    CHECK_THROWS_WITH(make({}), ContainsSubstring("there are no weights"));
    CHECK_THROWS_WITH(make({0, 0}), ContainsSubstring("all weights are 0"));
    CHECK_THROWS_WITH(make({1, -2}), ContainsSubstring("weight number 1 is -2"));
    CHECK_THROWS_WITH(make({std::nan("")}), ContainsSubstring("weight number 0 is"));
    CHECK_THROWS_AS(make({1, std::numeric_limits<double>::infinity()}), std::invalid_argument);
}

namespace {

const std::vector<double> weights = {1, 2, 3, 4, 0};

numbers epoch_of(weighted_sampler& s) {
    numbers all;
    while (auto d = s.next()) all.push_back(d->index);
    return all;
}

}  // namespace

TEST_CASE("a weighted sampler draws each index as often as its weight says") {
    weighted_sampler s(weights, {.draws = 100'000, .seed = 5});
    for (int epoch = 0; epoch < 2; ++epoch) {
        std::vector<double> times(5);
        for (const u64 i : epoch_of(s)) ++times[i];
        double chi_square = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            const double mean = weights[i] * 10'000;
            chi_square += (times[i] - mean) * (times[i] - mean) / mean;
        }
        CAPTURE(epoch, chi_square);
        CHECK(chi_square < 16);  // 3 degrees of freedom: once in a thousand
        CHECK(times[4] == 0);
    }
}

TEST_CASE("draws of a weighted sampler don't follow from each other") {
    const std::vector<double> even(8, 1.0);
    weighted_sampler s(even, {.draws = 64'000});
    const numbers drawn = epoch_of(s);
    std::vector<double> pairs(64);
    for (std::size_t i = 1; i < drawn.size(); ++i) ++pairs[drawn[i - 1] * 8 + drawn[i]];
    double chi_square = 0;
    for (const double p : pairs) chi_square += (p - 1'000) * (p - 1'000) / 1'000;
    CHECK(std::abs(chi_square - 63) / std::sqrt(2 * 63.0) < 4);
}

TEST_CASE("what a weighted sampler draws never changes: a run that is resumed relies on it") {
    weighted_sampler s(weights, {.draws = 12, .seed = 3});
    CHECK(epoch_of(s) == numbers{1, 3, 2, 2, 3, 3, 3, 2, 3, 3, 1, 0});
    CHECK(epoch_of(s) == numbers{2, 3, 3, 3, 3, 3, 2, 3, 0, 0, 2, 2});
}

TEST_CASE("a weighted sampler draws as many as there are weights, if nothing else is said") {
    weighted_sampler s(weights);
    CHECK(s.size() == 5);
    CHECK(s.remaining() == 5);
    CHECK(epoch_of(s).size() == 5);
}

TEST_CASE("ranks of a weighted sampler share the draws, and copies of it the weights") {
    weighted_sampler whole(weights, {.draws = 100, .seed = 9});
    const numbers expected = epoch_of(whole);
    std::vector<weighted_sampler> ranks;
    for (int r = 0; r < 7; ++r) {
        ranks.emplace_back(weights, weir::weighted_sampler_options{.draws = 100, .seed = 9, .shard = {r, 7}});
    }
    auto copies = ranks;
    numbers together, again;
    for (std::size_t k = 0; k < 100; ++k) {
        together.push_back(ranks[k % 7].next()->index);
        again.push_back(copies[k % 7].next()->index);
    }
    CHECK(together == expected);
    CHECK(again == expected);
}

TEST_CASE("a weighted sampler goes on where another one was, of other ranks too") {
    weighted_sampler whole(weights, {.draws = 10, .seed = 9});
    numbers expected;
    while (auto d = whole.next_before(3)) expected.push_back(d->index);

    weighted_sampler first(weights, {.draws = 10, .seed = 9});
    weir::progress done(first.start());
    numbers got(30);
    for (int i = 0; i < 14; ++i) {
        const auto d = first.next_before(3);
        if (d->position % 5 == 3) continue;  // not taken
        got[d->position] = d->index;
        done.took(*d);
    }
    for (int r = 0; r < 3; ++r) {
        weighted_sampler rest(weights,
                              {.draws = 10, .seed = 9, .shard = {r, 3}, .resume = done.checkpoint()});
        while (auto d = rest.next_before(3)) got[d->position] = d->index;
    }
    CHECK(got == expected);

    const auto resume = [&](std::vector<double> w, u64 draws) {
        return weighted_sampler(w, {.draws = draws, .seed = 9, .resume = done.checkpoint()});
    };
    CHECK_THROWS_WITH(resume({1, 2, 3, 5, 0}, 10), ContainsSubstring("weights' checksum was"));
    CHECK_THROWS_WITH(resume(weights, 11), ContainsSubstring("size (draws an epoch) was 10, here it is 11"));
}

TEST_CASE("a weighted sampler refuses weights that are none") {
    CHECK_THROWS_AS(weighted_sampler(std::vector<double>{}), std::invalid_argument);
    CHECK_THROWS_AS(weighted_sampler(std::vector<double>{1, -1}), std::invalid_argument);
}
