#include <weir/sampling/weighted_sampler.hpp>

#include <weir/sampling/progress.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using weir::draw;
using weir::weighted_sampler;
using u64 = std::uint64_t;
using numbers = std::vector<u64>;

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
