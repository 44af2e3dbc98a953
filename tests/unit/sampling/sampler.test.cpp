#include <weir/sampling/sampler.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using weir::draw;
using weir::sampler;
using weir::shard;
using weir::tail;
using u64 = std::uint64_t;
using numbers = std::vector<u64>;

static_assert(std::is_copy_constructible_v<sampler>);
static_assert(std::is_nothrow_move_constructible_v<sampler>);

namespace {

std::vector<draw> epoch_of(sampler& s) {
    std::vector<draw> all;
    while (auto d = s.next()) all.push_back(*d);
    return all;
}

numbers indices(const std::vector<draw>& draws) {
    numbers all;
    for (const draw& d : draws) all.push_back(d.index);
    return all;
}

numbers counted(u64 from, u64 to) {
    numbers all;
    for (u64 i = from; i < to; ++i) all.push_back(i);
    return all;
}

}  // namespace

TEST_CASE("a sampler gives each index once an epoch, and tells where an epoch ends") {
    sampler s({.size = 100, .seed = 7});
    std::vector<numbers> orders;
    for (u64 epoch = 0; epoch < 5; ++epoch) {
        CHECK(s.epoch() == epoch);
        CHECK(s.remaining() == 100);
        const auto draws = epoch_of(s);
        bool good = draws.size() == 100;
        for (u64 i = 0; i < draws.size(); ++i) {
            good =
                good && draws[i].position == epoch * 100 + i && draws[i].epoch == epoch && !draws[i].padded;
        }
        CHECK(good);
        orders.push_back(indices(draws));
        numbers sorted = orders.back();
        std::sort(sorted.begin(), sorted.end());
        CHECK(sorted == counted(0, 100));
    }
    std::sort(orders.begin(), orders.end());
    CHECK(std::adjacent_find(orders.begin(), orders.end()) == orders.end());  // each another one
}

TEST_CASE("a sampler that does not shuffle gives the indices in order") {
    sampler s({.size = 5, .seed = 7, .shuffle = false});
    CHECK(indices(epoch_of(s)) == counted(0, 5));
    CHECK(indices(epoch_of(s)) == counted(0, 5));
    CHECK(s.epoch() == 2);
    CHECK(s.size() == 5);
}

TEST_CASE("what a sampler gives never changes: a run that is resumed relies on it") {
    sampler s({.size = 10, .seed = 3});
    CHECK(indices(epoch_of(s)) == numbers{8, 5, 2, 7, 3, 1, 0, 9, 4, 6});
    CHECK(indices(epoch_of(s)) == numbers{3, 9, 4, 8, 1, 2, 5, 6, 7, 0});
}

TEST_CASE("ranks share an epoch in turns, whatever their number") {
    sampler whole({.size = 23, .seed = 1});
    for (u64 epoch = 0; epoch < 3; ++epoch) {
        const numbers order = indices(epoch_of(whole));
        for (u64 world = 1; world <= 30; ++world) {
            std::vector<sampler> ranks;
            for (u64 r = 0; r < world; ++r) {
                ranks.emplace_back(weir::sampler_options{.size = 23, .seed = 1, .shard = {r, world}});
                while (ranks.back().epoch() < epoch) epoch_of(ranks.back());
            }
            numbers together;
            for (u64 k = 0; k < 23; ++k) {
                const auto d = ranks[k % world].next();
                together.push_back(d ? d->index : UINT64_MAX);
            }
            CAPTURE(world);
            CHECK(together == order);
            bool all_end = true;
            for (sampler& s : ranks) all_end = all_end && !s.next();
            CHECK(all_end);
        }
    }
}

TEST_CASE("the uneven rest of an epoch is given, left out or filled up, as is asked for") {
    for (u64 size = 0; size <= 20; ++size) {
        for (u64 world = 1; world <= 8; ++world) {
            for (const tail what : {tail::exact, tail::drop, tail::pad}) {
                if (what == tail::drop && size != 0 && size < world) continue;
                CAPTURE(size, world, static_cast<int>(what));
                bool good = true;
                for (u64 rank = 0; rank < world; ++rank) {
                    sampler s({.size = size, .shuffle = false, .shard = {rank, world}, .tail = what});
                    for (u64 epoch = 0; epoch < 2; ++epoch) {
                        numbers expected;
                        const u64 rounds = what == tail::drop ? size / world : (size + world - 1) / world;
                        for (u64 k = rank; k < rounds * world; k += world) {
                            if (k < size || what == tail::pad) expected.push_back(k);
                        }
                        good = good && s.remaining() == expected.size();
                        u64 left = expected.size();
                        for (const u64 k : expected) {
                            const auto d = s.next();
                            good = good && d == draw(epoch * size + k % size, k % size, epoch, k >= size) &&
                                   s.remaining() == --left;
                        }
                        good = good && !s.next();
                    }
                }
                CHECK(good);
            }
        }
    }
}

TEST_CASE("a sampler can go on over the ends of epochs") {
    sampler s({.size = 3, .shuffle = false});
    numbers positions;
    while (auto d = s.next_before(3)) positions.push_back(d->position);
    CHECK(positions == counted(0, 9));
    CHECK(s.epoch() == 3);
    CHECK_FALSE(s.next_before(3));
    CHECK(s.next_before(4)->position == 9);

    sampler nothing({.size = 0});
    CHECK_FALSE(nothing.next_before(1'000));
    CHECK(nothing.epoch() == 1'000);
    CHECK_FALSE(nothing.has_draws());
    for (sampler none : {nothing, sampler({.size = 3, .shard = {5, 8}})}) {
        CHECK_FALSE(none.next_before(UINT64_MAX));  // at once
        CHECK(none.epoch() == UINT64_MAX);
    }
    sampler padded({.size = 3, .shard = {5, 8}, .tail = tail::pad});
    CHECK(padded.has_draws());
    CHECK(padded.next_before(1)->padded);
}

TEST_CASE("a sampler that would never give anything is refused") {
    CHECK_THROWS_WITH(sampler({.size = 3, .shard = {0, 4}, .tail = tail::drop}),
                      ContainsSubstring("with tail::drop, 4 ranks would get nothing at all of 3 draws an"));
    CHECK_THROWS_WITH(sampler({.size = 1, .shard = {0, 2}, .tail = tail::drop}),
                      ContainsSubstring("2 ranks would get nothing at all of 1 draw an epoch"));
    CHECK_NOTHROW(sampler({.size = 4, .shard = {0, 4}, .tail = tail::drop}));
    CHECK_NOTHROW(sampler({.size = 0, .shard = {0, 4}, .tail = tail::drop}));
    CHECK_NOTHROW(sampler({.size = 3, .shard = {3, 4}}));
}

TEST_CASE("a sampler of very many indices gives its part of them") {
    sampler s({.size = UINT64_MAX, .seed = 1, .shard = {UINT32_MAX - 1, UINT32_MAX}});
    CHECK(s.remaining() == UINT64_MAX / UINT32_MAX);
    CHECK(s.next()->position == UINT32_MAX - 1);
    CHECK(s.next()->position == 2 * u64{UINT32_MAX} - 1);
    CHECK(s.remaining() == UINT64_MAX / UINT32_MAX - 2);
}

TEST_CASE("a sampler refuses an epoch whose positions would not fit") {
    const u64 n = UINT64_MAX / 5 * 2;
    const weir::draw_sequence sequence{weir::draw_order::sequential, 0, n, 0};
    const auto bytes = weir::checkpoint::begin(sequence, {}, tail::exact).to_bytes();
    auto fields = weir::detail::checkpoint_fields::from_bytes(bytes);
    fields.base = fields.watermark = 2 * n - 2;
    sampler s({.size = n, .shuffle = false, .resume = weir::checkpoint::from_bytes(fields.to_bytes())});
    CHECK(s.epoch() == 1);
    CHECK(indices(epoch_of(s)) == numbers{n - 2, n - 1});
    CHECK(s.epoch() == 2);
    CHECK(s.remaining() == 0);
    CHECK_THROWS_AS(s.next(), std::overflow_error);
    CHECK_THROWS_AS(s.next_before(9), std::overflow_error);
    CHECK_FALSE(s.next_before(2));
}

TEST_CASE("with fewer draws than indices an epoch is some of them, others each time") {
    sampler s({.size = 100, .draws = 30, .seed = 7});
    CHECK(s.size() == 30);
    std::vector<numbers> epochs;
    for (u64 epoch = 0; epoch < 4; ++epoch) {
        const auto draws = epoch_of(s);
        REQUIRE(draws.size() == 30);
        CHECK(draws.front().position == epoch * 30);
        numbers its = indices(draws);
        std::ranges::sort(its);
        CHECK(std::ranges::adjacent_find(its) == its.end());
        CHECK(its.back() < 100);
        epochs.push_back(std::move(its));
    }
    CHECK(epochs[0] != epochs[1]);
    CHECK(epochs[1] != epochs[2]);
    sampler in_order({.size = 100, .draws = 3, .shuffle = false});
    CHECK(indices(epoch_of(in_order)) == counted(0, 3));
    CHECK(indices(epoch_of(in_order)) == counted(0, 3));
}

TEST_CASE("with more draws than indices each comes again when all have come, in another order") {
    sampler s({.size = 10, .draws = 25, .seed = 7});
    const numbers all = indices(epoch_of(s));
    REQUIRE(all.size() == 25);
    for (const std::ptrdiff_t begin : {0, 10}) {
        numbers pass(all.begin() + begin, all.begin() + begin + 10);
        std::ranges::sort(pass);
        CHECK(pass == counted(0, 10));
    }
    CHECK(numbers(all.begin(), all.begin() + 10) != numbers(all.begin() + 10, all.begin() + 20));
    sampler in_order({.size = 2, .draws = 5, .shuffle = false});
    CHECK(indices(epoch_of(in_order)) == numbers{0, 1, 0, 1, 0});
}

TEST_CASE("ranks share the draws of an epoch, and a checkpoint fits no other number of draws or indices") {
    numbers together;
    for (std::uint64_t rank = 0; rank < 3; ++rank) {
        sampler s({.size = 100, .draws = 31, .seed = 7, .shard = {rank, 3}});
        for (const draw& d : epoch_of(s)) together.push_back(d.position);
    }
    std::ranges::sort(together);
    CHECK(together == counted(0, 31));
    const weir::checkpoint start = sampler({.size = 100, .draws = 30, .seed = 7}).start();
    CHECK_NOTHROW(sampler({.size = 100, .draws = 30, .seed = 7, .resume = start}));
    CHECK_THROWS_AS(sampler({.size = 99, .draws = 30, .seed = 7, .resume = start}), std::invalid_argument);
    CHECK_THROWS_AS(sampler({.size = 30, .seed = 7, .resume = start}), std::invalid_argument);
    CHECK_THROWS_WITH(sampler({.size = 0, .draws = 3}), ContainsSubstring("nothing to draw from"));
    CHECK(sampler({.size = 30, .draws = 30, .seed = 7}).sequence() ==
          sampler({.size = 30, .seed = 7}).sequence());
}
