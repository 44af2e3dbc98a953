#include <weir/sampling/progress.hpp>
#include <weir/sampling/sampler.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using weir::checkpoint;
using weir::draw;
using weir::progress;
using weir::sampler;
using weir::tail;
using u64 = std::uint64_t;
using numbers = std::vector<u64>;

namespace {

numbers ahead_of(const checkpoint& c) { return numbers(c.ahead().begin(), c.ahead().end()); }

}  // namespace

TEST_CASE("progress goes up with what is taken in order") {
    sampler s({.size = 10, .shard = {1, 3}});
    progress done(s.start());
    CHECK(done.watermark() == 1);
    for (const u64 next : {4U, 7U, 11U, 14U, 17U, 21U}) {
        done.took(*s.next_before(9));
        CHECK(done.watermark() == next);
        CHECK(done.num_ahead() == 0);
    }
}

TEST_CASE("progress keeps what is taken ahead until the rest has come") {
    const sampler s({.size = 10, .shard = {1, 3}});  // 1 4 7, 11 14 17, 21 ...
    progress done(s.start());
    done.took(17);
    done.took(4);
    done.took(11);
    CHECK(done.watermark() == 1);
    CHECK(ahead_of(done.checkpoint()) == numbers{4, 11, 17});
    done.took(1);
    CHECK(done.watermark() == 7);
    CHECK(ahead_of(done.checkpoint()) == numbers{11, 17});
    done.took(7);
    CHECK(done.watermark() == 14);
    done.took(14);
    CHECK(done.watermark() == 21);
    CHECK(done.num_ahead() == 0);
}

TEST_CASE("progress refuses what is taken twice, or is not the rank's, and is as before") {
    const sampler s({.size = 10, .shard = {1, 3}});
    progress done(s.start());
    done.took(1);
    done.took(7);
    const checkpoint before = done.checkpoint();
    CHECK_THROWS_WITH(done.took(1), ContainsSubstring("rank 1 of 3 can't take position 1: it was taken"));
    CHECK_THROWS_WITH(done.took(7), ContainsSubstring("position 7: it was taken before"));
    CHECK_THROWS_WITH(done.took(5), ContainsSubstring("position 5: it is not dealt to this rank"));
    CHECK_THROWS_AS(done.took(0), std::invalid_argument);
    CHECK_THROWS_AS(done.took(UINT64_MAX), std::invalid_argument);
    CHECK(done.checkpoint() == before);
}

TEST_CASE("padded draws leave no trace in progress") {
    sampler s({.size = 4, .shard = {1, 3}, .tail = tail::pad});
    progress done(s.start());
    for (int i = 0; i < 2; ++i) {
        const auto d = s.next();
        CHECK(d->padded == (i == 1));
        done.took(*d);
        CHECK(done.watermark() == 5);
    }
}

TEST_CASE("what nobody is given does not hold progress back") {
    sampler s({.size = 5, .shard = {0, 3}, .tail = tail::drop});  // 0, 5, 10
    progress done(s.start());
    for (const u64 next : {5U, 10U, 15U}) {
        done.took(*s.next_before(9));
        CHECK(done.watermark() == next);
    }
    CHECK_THROWS_AS(done.took(18), std::invalid_argument);

    const sampler few({.size = 2, .shard = {2, 3}});
    CHECK(progress(few.start()).watermark() == UINT64_MAX);
    CHECK_THROWS_AS(progress(few.start()).took(UINT64_MAX), std::invalid_argument);
}

TEST_CASE("progress can go on from an earlier checkpoint of its rank") {
    sampler s({.size = 20, .shard = {1, 3}});
    progress whole(s.start());
    for (const u64 p : {4U, 10U, 1U}) whole.took(p);
    progress again(checkpoint::from_bytes(whole.checkpoint().to_bytes()));
    CHECK(again.checkpoint() == whole.checkpoint());
    for (progress* p : {&whole, &again}) {
        p->took(21);
        p->took(7);
    }
    CHECK(again.watermark() == 13);
    CHECK(again.checkpoint() == whole.checkpoint());
    CHECK_THROWS_AS(again.took(10), std::invalid_argument);
}

TEST_CASE("progress is the same whatever the order in which things are taken") {
    numbers positions;
    sampler s({.size = 7, .shard = {0, 2}});
    while (auto d = s.next_before(3)) positions.push_back(d->position);
    const auto after = [&](std::size_t how_many) {
        progress done(s.start());
        for (std::size_t i = 0; i < how_many; ++i) done.took(positions[i]);
        return done.checkpoint();
    };
    const checkpoint expected = after(5);
    numbers order(positions.begin(), positions.begin() + 5);
    do {
        progress done(s.start());
        for (const u64 p : order) done.took(p);
        if (done.checkpoint() != expected) FAIL("the order has made a difference");
    } while (std::next_permutation(order.begin(), order.end()));
}
