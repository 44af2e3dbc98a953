#include <weir/sampling/checkpoint.hpp>

#include "support/catch.hpp"

#include <weir/platform/numbers.hpp>
#include <weir/sampling/sampler.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using weir::checkpoint;
using weir::draw;
using weir::draw_order;
using weir::draw_sequence;
using weir::progress;
using weir::sampler;
using weir::tail;
using u64 = std::uint64_t;
using numbers = std::vector<u64>;

static_assert(std::is_trivially_copyable_v<draw>);
// What is awaited must be no aggregate: a compiler that is supported miscompiles those.
static_assert(!std::is_aggregate_v<draw>);

TEST_CASE("a draw says what it is, and where") {
    constexpr draw d(12, 4, 1, true);
    CHECK(d.position == 12);
    CHECK(d.index == 4);
    CHECK(d.epoch == 1);
    CHECK(d.padded);
    CHECK(d != draw(12, 4, 1, false));
    CHECK(draw() == draw(0, 0, 0, false));
}

TEST_CASE("sequences are equal if all that decides an index is") {
    const draw_sequence a{draw_order::weighted, 1, 2, 3};
    CHECK(a == draw_sequence{draw_order::weighted, 1, 2, 3});
    CHECK(a != draw_sequence{draw_order::permuted, 1, 2, 3});
    CHECK(a != draw_sequence{draw_order::weighted, 0, 2, 3});
    CHECK(a != draw_sequence{draw_order::weighted, 1, 0, 3});
    CHECK(a != draw_sequence{draw_order::weighted, 1, 2, 0});
}

namespace {

// Random numbers that are the same everywhere.
class random_numbers {
  public:
    explicit random_numbers(u64 seed) : seed_(weir::detail::subseed(seed, 0)) {}
    u64 below(u64 n) { return weir::detail::high_product(weir::detail::splitmix64(seed_, count_++), n); }

  private:
    u64 seed_, count_ = 0;
};

// A run with a number of ranks, each of which takes some more of what its sampler gives, out of order
// by up to `window`. Each draw that is taken is noted.
class job {
  public:
    job(weir::sampler_options options, u64 world, u64 window)
        : window_(window), taken_before_(options.resume ? options.resume->ahead().size() : 0) {
        for (u64 r = 0; r < world; ++r) {
            options.shard = {r, world};
            ranks_.emplace_back(options);
        }
    }

    // `most`: how many a rank takes; up to an epoch.
    void work(random_numbers& random, u64 most, u64 epochs, std::vector<draw>& taken) {
        for (rank& r : ranks_) {
            for (u64 left = random.below(most + 1); left != 0; --left) {
                while (r.given.size() < window_) {
                    const auto d = r.source.next_before(epochs);
                    if (!d) break;
                    r.given.push_back(*d);
                }
                if (r.given.empty()) break;
                const auto which = static_cast<std::ptrdiff_t>(random.below(r.given.size()));
                const draw d = r.given[static_cast<std::size_t>(which)];
                r.given.erase(r.given.begin() + which);
                r.done.took(d);
                if (!d.padded) taken.push_back(d);
            }
        }
    }

    // Each rank's checkpoint, by way of bytes, which are as few as promised.
    std::vector<checkpoint> killed() const {
        std::vector<checkpoint> saved;
        for (const rank& r : ranks_) {
            const checkpoint c = r.done.checkpoint();
            const auto bytes = c.to_bytes();
            saved.push_back(checkpoint::from_bytes(bytes));
            if (saved.back() != c) throw std::logic_error("the bytes say something else");
            // What a rank has ahead, and what was taken ahead when its run began.
            if (bytes.size() >= 64 + 8 * (r.done.num_ahead() + taken_before_))
                throw std::logic_error("too many bytes");
        }
        return saved;
    }

  private:
    struct rank {
        explicit rank(const weir::sampler_options& options) : source(options), done(source.start()) {}
        sampler source;
        progress done;
        std::vector<draw> given;
    };
    std::vector<rank> ranks_;
    u64 window_;
    std::size_t taken_before_;
};

std::vector<draw> sorted(std::vector<draw> draws) {
    std::sort(draws.begin(), draws.end(),
              [](const draw& a, const draw& b) { return a.position < b.position; });
    return draws;
}

std::vector<draw> uninterrupted(weir::sampler_options options, u64 epochs) {
    options.shard = {0, 1};
    sampler s(options);
    std::vector<draw> all;
    while (auto d = s.next_before(epochs)) all.push_back(*d);
    return all;
}

// All that is taken of the first epochs, if runs with these numbers of ranks follow each other, each
// killed but for the last one.
std::vector<draw> run_in_parts(weir::sampler_options options, const numbers& worlds, u64 epochs, u64 window,
                               random_numbers& random) {
    std::vector<draw> taken;
    options.resume = std::nullopt;
    for (std::size_t i = 0; i < worlds.size(); ++i) {
        const bool last = i + 1 == worlds.size();
        job j(options, worlds[i], window);
        const u64 most = epochs * options.size / worlds[i] + 1;
        if (last) {
            for (int round = 0; round < 200; ++round) j.work(random, most, epochs, taken);
        } else {
            j.work(random, most * 2 / worlds.size(), epochs, taken);
        }
        auto saved = j.killed();
        std::reverse(saved.begin(), saved.end());
        options.resume = checkpoint::merge(saved);
    }
    return sorted(taken);
}

checkpoint of_rank(u64 rank, u64 world, u64 size = 10, u64 seed = 0, tail what = tail::exact) {
    return sampler({.size = size, .seed = seed, .shard = {rank, world}, .tail = what}).start();
}

std::string refusal(const std::vector<checkpoint>& ranks) {
    try {
        static_cast<void>(checkpoint::merge(ranks));
    } catch (const std::invalid_argument& refused) {
        return refused.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("killed at 1000 random points and resumed with 4, 3, 8 ranks, nothing is lost or doubled") {
    random_numbers random(1);
    int good = 0;
    for (u64 i = 0; i < 1'000; ++i) {
        const weir::sampler_options options{.size = 1 + random.below(120),
                                            .seed = i,
                                            .tail = i % 3 == 0 ? tail::pad : tail::exact};
        const u64 window = 1 + random.below(6);
        good += run_in_parts(options, {4, 3, 8}, 3, window, random) == uninterrupted(options, 3) ? 1 : 0;
    }
    CHECK(good == 1'000);
}

TEST_CASE("so it is with any numbers of ranks, and any number of kills") {
    random_numbers random(2);
    int good = 0;
    for (u64 i = 0; i < 500; ++i) {
        const weir::sampler_options options{.size = 1 + random.below(20), .seed = i, .shuffle = i % 2 == 0};
        numbers worlds;
        for (u64 left = 1 + random.below(6); left != 0; --left) worlds.push_back(1 + random.below(9));
        good += run_in_parts(options, worlds, 5, 1 + random.below(30), random) == uninterrupted(options, 5)
                    ? 1
                    : 0;
    }
    CHECK(good == 500);
}

TEST_CASE("with drop nothing is doubled, and an epoch loses less than a round, however often killed") {
    random_numbers random(3);
    bool good = true;
    for (u64 i = 0; i < 500; ++i) {
        const weir::sampler_options options{.size = 8 + random.below(40), .seed = i, .tail = tail::drop};
        const numbers worlds = {4, 3, 8};
        const auto taken = run_in_parts(options, worlds, 4, 1 + random.below(6), random);
        const auto all = uninterrupted(options, 4);
        good = good && std::includes(all.begin(), all.end(), taken.begin(), taken.end(),
                                     [](const draw& a, const draw& b) { return a.position < b.position; });
        std::vector<u64> lost(4, options.size);
        for (const draw& d : taken) --lost[d.epoch];
        for (const u64 n : lost) good = good && n < 8;
    }
    CHECK(good);
}

TEST_CASE("a merged checkpoint holds what each rank has taken, and nothing else") {
    random_numbers random(4);
    bool good = true;
    for (u64 i = 0; i < 300; ++i) {
        weir::sampler_options options{.size = 1 + random.below(30), .seed = i};
        std::set<u64> taken;
        for (int part = 0; part < 4; ++part) {
            job j(options, 1 + random.below(6), 1 + random.below(8));
            std::vector<draw> more;
            j.work(random, 12, 1'000, more);
            for (const draw& d : more) good = good && taken.insert(d.position).second;
            const checkpoint all = checkpoint::merge(j.killed());
            std::set<u64> said(all.ahead().begin(), all.ahead().end());
            for (u64 p = 0; p < all.watermark(); ++p) said.insert(p);
            good = good && said == taken && all.complete() && checkpoint::from_bytes(all.to_bytes()) == all &&
                   all.to_bytes().size() < 64 + 8 * all.ahead().size();
            options.resume = all;
        }
    }
    CHECK(good);
}

TEST_CASE("with drop, what was left out of epochs that are over holds nothing back") {
    std::vector<checkpoint> ranks;
    for (u64 r = 0; r < 3; ++r) {
        sampler s({.size = 11, .shard = {r, 3}, .tail = tail::drop});
        progress done(s.start());
        while (auto d = s.next_before(4)) done.took(*d);
        ranks.push_back(done.checkpoint());
        CHECK(ranks.back().to_bytes().size() == 63);
    }
    const checkpoint all = checkpoint::merge(ranks);
    CHECK(all.watermark() == 44);
    CHECK(all.ahead().empty());
    CHECK(sampler({.size = 11, .resume = all}).epoch() == 4);
}

TEST_CASE("some ranks may be epochs ahead of others") {
    std::vector<checkpoint> ranks;
    std::vector<u64> times(30, 0);
    for (u64 r = 0; r < 3; ++r) {
        sampler s({.size = 6, .seed = 1, .shard = {r, 3}});
        progress done(s.start());
        for (u64 i = 0; i < 4 * r; ++i) {
            const auto d = s.next_before(5);
            ++times[d->position];
            done.took(*d);
        }
        ranks.push_back(done.checkpoint());
    }
    const checkpoint all = checkpoint::merge(ranks);
    CHECK(all.watermark() == 0);
    CHECK(all.ahead().size() == 12);
    sampler s({.size = 6, .seed = 1, .resume = all});
    CHECK(s.remaining() == 2);
    while (auto d = s.next_before(5)) ++times[d->position];
    CHECK(times == std::vector<u64>(30, 1));
}

TEST_CASE("the checkpoint of a single rank is complete by itself") {
    sampler s({.size = 10});
    progress done(s.start());
    for (const u64 p : {0U, 1U, 3U, 12U}) done.took(p);
    const checkpoint c = done.checkpoint();
    CHECK(c.complete());
    CHECK(checkpoint::merge(std::vector<checkpoint>{c}) == c);
    CHECK(c.watermark() == 2);
    CHECK(numbers(c.ahead().begin(), c.ahead().end()) == numbers{3, 12});
    CHECK(c.shard() == weir::shard(0, 1));
    sampler next({.size = 10, .resume = c});
    numbers rest;
    while (auto d = next.next_before(2)) rest.push_back(d->position);
    CHECK(rest == numbers{2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19});
    CHECK(next.start() == c);
}

TEST_CASE("checkpoints of different runs, or not of all ranks, are not merged") {
    CHECK_THAT(refusal({}), ContainsSubstring("can't be merged: there is none"));
    CHECK(refusal({of_rank(1, 2), of_rank(0, 2)}) == "accepted");
    CHECK_THAT(refusal({of_rank(0, 3), of_rank(2, 3)}), ContainsSubstring("rank 1 of 3 is missing"));
    CHECK_THAT(refusal({of_rank(0, 3), of_rank(1, 3)}), ContainsSubstring("rank 2 of 3 is missing"));
    CHECK_THAT(refusal({of_rank(0, 2), of_rank(0, 2)}), ContainsSubstring("rank 0 of 2 is there twice"));
    CHECK_THAT(refusal({of_rank(0, 1), of_rank(0, 1)}), ContainsSubstring("rank 0 of 1 is there twice"));
    CHECK_THAT(refusal({of_rank(0, 2), of_rank(1, 3)}),
               ContainsSubstring("one is of 2 ranks, another one of 3"));
    CHECK_THAT(refusal({of_rank(0, 2), of_rank(1, 2, 11)}), ContainsSubstring("different sequences"));
    CHECK_THAT(refusal({of_rank(0, 2), of_rank(1, 2, 10, 1)}), ContainsSubstring("different sequences"));
    CHECK_THAT(refusal({of_rank(0, 2), of_rank(1, 2, 10, 0, tail::drop)}),
               ContainsSubstring("runs that began differently"));

    const sampler one({.size = 10});
    progress done(one.start());
    done.took(5);
    const sampler resumed({.size = 10, .shard = {1, 2}, .resume = done.checkpoint()});
    CHECK_THAT(refusal({of_rank(0, 2), resumed.start()}), ContainsSubstring("began differently"));
}

TEST_CASE("a checkpoint of another sequence, or of a part of the ranks, is not resumed from") {
    const checkpoint all = of_rank(0, 1, 10, 7);
    const auto resume = [](const checkpoint& c, weir::sampler_options options) {
        options.resume = c;
        return sampler(options);
    };
    CHECK_NOTHROW(resume(all, {.size = 10, .seed = 7, .shard = {1, 5}, .tail = tail::drop}));
    CHECK_THROWS_WITH(resume(all, {.size = 12, .seed = 7}),
                      ContainsSubstring("its size (draws an epoch) was 10, here it is 12"));
    CHECK_THROWS_WITH(resume(all, {.size = 10, .seed = 8}),
                      ContainsSubstring("its seed was 7, here it is 8"));
    CHECK_THROWS_WITH(resume(all, {.size = 10, .seed = 7, .shuffle = false}),
                      ContainsSubstring("its draws were shuffled, these are in sequence"));
    CHECK_THROWS_WITH(resume(all, {.size = 20, .draws = 10, .seed = 7}),
                      ContainsSubstring("its .size was another, with as many draws an epoch"));
    CHECK_THROWS_WITH(resume(of_rank(1, 2, 10, 7), {.size = 10, .seed = 7}),
                      ContainsSubstring("it is what rank 1 of 2 took; merge those of all ranks first"));
}

TEST_CASE("a checkpoint is small, also of a run that was resumed, once an epoch has passed") {
    const checkpoint start = of_rank(0, 8, 1'000'000'000, UINT64_MAX);
    CHECK(start.to_bytes().size() == 63);

    sampler one({.size = 100});
    progress done(one.start());
    for (u64 p = 1; p < 50; p += 2) done.took(p);
    CHECK(done.checkpoint().to_bytes().size() == 63 + 25);
    sampler two({.size = 100, .shard = {0, 2}, .resume = done.checkpoint()});
    progress more(two.start());
    CHECK(more.checkpoint().to_bytes().size() == 63 + 25);
    while (auto d = two.next()) more.took(*d);
    CHECK(more.checkpoint().to_bytes().size() == 63);
}

TEST_CASE("the bytes of a checkpoint never change: files are full of them") {
    sampler s({.size = 1'000, .seed = 0x0102030405060708, .shard = {1, 3}, .tail = tail::pad});
    progress done(s.start());
    for (const u64 p : {1U, 7U, 10U, 604U}) done.took(p);
    std::string text;
    for (const std::byte b : done.checkpoint().to_bytes()) {
        text += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
        text += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
    }
    CHECK(text ==
          "7765697201212001000000030000000000000039a820e2e803000000000000080706050403020100000000000000000400"
          "000000000000000000000300030052026daa086d");
}

TEST_CASE("checkpoints of nothing, and of what a rank never gets, can be merged too") {
    const checkpoint nothing = checkpoint::merge(std::vector{of_rank(0, 2, 0), of_rank(1, 2, 0)});
    CHECK(checkpoint::from_bytes(nothing.to_bytes()) == nothing);
    sampler none({.size = 0, .resume = nothing});
    CHECK_FALSE(none.next_before(3));

    // Two of the three ranks have all that there is.
    std::vector<checkpoint> ranks;
    for (u64 r = 0; r < 3; ++r) {
        sampler s({.size = 2, .shard = {r, 3}});
        progress done(s.start());
        while (auto d = s.next_before(5 + r)) done.took(*d);
        ranks.push_back(done.checkpoint());
    }
    const checkpoint all = checkpoint::merge(ranks);
    CHECK(all.watermark() == 10);
    CHECK(numbers(all.ahead().begin(), all.ahead().end()) == numbers{11});
}

TEST_CASE("positions near 2^64 are kept") {
    sampler s({.size = UINT64_MAX, .shuffle = false, .shard = {0, 2}});
    progress done(s.start());
    done.took(UINT64_MAX - 1);
    done.took(u64{1} << 63);
    const checkpoint c = done.checkpoint();
    CHECK(c.to_bytes().size() == 63 + 16);
    CHECK(checkpoint::from_bytes(c.to_bytes()) == c);
    const checkpoint all = checkpoint::merge(
        std::vector{c, sampler({.size = UINT64_MAX, .shuffle = false, .shard = {1, 2}}).start()});
    CHECK(numbers(all.ahead().begin(), all.ahead().end()) == numbers{u64{1} << 63, UINT64_MAX - 1});
    sampler next({.size = UINT64_MAX, .shuffle = false, .resume = all});
    CHECK(next.remaining() == UINT64_MAX - 2);

    // A checkpoint of all of them, made as a file could be.
    auto bytes = checkpoint::begin(next.sequence(), {0, 1}, tail::exact).to_bytes();
    weir::detail::checkpoint_fields fields = weir::detail::checkpoint_fields::from_bytes(bytes);
    fields.base = fields.watermark = UINT64_MAX;
    sampler over({.size = UINT64_MAX, .shuffle = false, .resume = checkpoint::from_bytes(fields.to_bytes())});
    CHECK(over.epoch() == 1);
    CHECK(over.remaining() == 0);
    CHECK_THROWS_AS(over.next(), std::overflow_error);
}

TEST_CASE("a checkpoint of a sampler that makes another number of draws comes back from its bytes") {
    const weir::sampler_options options{.size = 9, .draws = 4, .seed = 7};
    progress done(sampler(options).start());
    done.took(2);
    const checkpoint saved = checkpoint::from_bytes(done.checkpoint().to_bytes());
    CHECK(saved == done.checkpoint());
    weir::sampler_options rest = options;
    rest.resume = saved;
    CHECK(sampler(rest).remaining() == 3);
}

TEST_CASE(
    "of the last epoch whose positions can all be counted there are checkpoints, and of none behind it") {
    // Two epochs end below 2^64.
    constexpr u64 size = UINT64_MAX / 2;
    const sampler s({.size = size, .shuffle = false});
    auto fields = weir::detail::checkpoint_fields::from_bytes(s.start().to_bytes());
    const auto is_one = [&fields](u64 watermark, std::vector<u64> ahead) {
        fields.base = fields.watermark = watermark;
        fields.ahead = std::move(ahead);
        try {
            static_cast<void>(checkpoint::from_bytes(fields.to_bytes()));
            return true;
        } catch (const std::invalid_argument&) {
            return false;
        }
    };
    CHECK(is_one(size, {}));
    CHECK(is_one(2 * size - 1, {}));
    CHECK_FALSE(is_one(2 * size, {}));
    CHECK(is_one(0, {2 * size - 1}));
    CHECK_FALSE(is_one(0, {2 * size}));
}

TEST_CASE("fields that no run can lead to are refused") {
    using weir::detail::checkpoint_fields;
    sampler s({.size = 10, .shard = {1, 3}});
    progress done(s.start());
    done.took(4);
    const auto good = checkpoint_fields::from_bytes(done.checkpoint().to_bytes());
    const auto refused = [&good](auto change) {
        checkpoint_fields f = good;
        change(f);
        try {
            static_cast<void>(checkpoint::from_bytes(f.to_bytes()));
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK_FALSE(refused([](auto&) {}));
    CHECK(refused([](auto& f) { f.order = 3; }));
    CHECK(refused([](auto& f) { f.tail = 3; }));
    CHECK(refused([](auto& f) { f.world = 0; }));
    CHECK(refused([](auto& f) { f.rank = 3; }));
    CHECK(refused([](auto& f) { f.rank = 2; }));
    CHECK(refused([](auto& f) { f.world = 1, f.rank = 0; }));
    CHECK(refused([](auto& f) { f.size = 0; }));
    CHECK(refused([](auto& f) { f.base = 2; }));
    CHECK(refused([](auto& f) { f.base = 1; }));
    CHECK(refused([](auto& f) { f.watermark = 2; }));
    CHECK(refused([](auto& f) { f.before = {1}; }));
    CHECK(refused([](auto& f) { f.ahead = {5}; }));
}

TEST_CASE("whatever bytes come, they are a checkpoint or refused") {
    using weir::detail::checkpoint_fields;
    random_numbers random(5);
    std::vector<std::vector<std::byte>> samples;
    for (u64 i = 0; i < 40; ++i) {
        weir::sampler_options options{.size = 1 + random.below(40), .seed = i};
        job first(options, 1 + random.below(4), 6);
        std::vector<draw> taken;
        first.work(random, 20, 9, taken);
        options.resume = checkpoint::merge(first.killed());
        job second(options, 1 + random.below(4), 6);
        second.work(random, 20, 9, taken);
        for (const checkpoint& c : second.killed()) samples.push_back(c.to_bytes());
        samples.push_back(options.resume->to_bytes());
    }
    int accepted = 0;
    const auto look = [&accepted](const std::vector<std::byte>& bytes) {
        try {
            const checkpoint c = checkpoint::from_bytes(bytes);
            ++accepted;
            return checkpoint::from_bytes(c.to_bytes()) == c;
        } catch (const std::invalid_argument&) {
            return true;
        }
    };
    bool good = true;
    for (const auto& sample : samples) {
        for (std::size_t length = 0; length < sample.size(); ++length) {
            good = good && look({sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(length)});
        }
        for (std::size_t bit = 0; bit < sample.size() * 8; ++bit) {
            auto changed = sample;
            changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
            good = good && look(changed);
        }
        auto longer = sample;
        longer.push_back(std::byte{0});
        good = good && look(longer);
    }
    CHECK(good);
    CHECK(accepted == 0);

    // With a checksum that fits, so that what is behind it is reached.
    for (int i = 0; i < 50'000; ++i) {
        auto changed = samples[random.below(samples.size())];
        changed.resize(changed.size() - 4);
        if (random.below(8) == 0) changed.resize(random.below(changed.size()) + 1);
        for (u64 left = 1 + random.below(3); left != 0; --left) {
            changed[random.below(changed.size())] = static_cast<std::byte>(random.below(256));
        }
        const std::uint32_t sum = checkpoint_fields::checksum(changed);
        for (int b = 0; b < 32; b += 8) changed.push_back(static_cast<std::byte>(sum >> b));
        good = good && look(changed);
    }
    CHECK(good);
    CHECK(accepted > 1'000);

    // And anything at all.
    for (int i = 0; i < 10'000; ++i) {
        std::vector<std::byte> anything(random.below(200));
        for (std::byte& b : anything) b = static_cast<std::byte>(random.below(256));
        if (i % 2 == 0 && anything.size() >= 5) {
            std::copy_n(samples[0].begin(), 5, anything.begin());
        }
        good = good && look(anything);
    }
    CHECK(good);
}

TEST_CASE("bytes that are no checkpoint are refused with the reason") {
    const auto reason = [](std::vector<std::byte> bytes) {
        try {
            static_cast<void>(checkpoint::from_bytes(bytes));
        } catch (const std::invalid_argument& refused) {
            return std::string(refused.what());
        }
        return std::string("accepted");
    };
    auto bytes = of_rank(0, 2).to_bytes();
    CHECK_THAT(reason({}), ContainsSubstring("are no checkpoint: they don't begin with \"weir\""));
    CHECK_THAT(reason(std::vector<std::byte>(100)), ContainsSubstring("they don't begin with"));
    CHECK_THAT(reason({bytes.begin(), bytes.begin() + 20}), ContainsSubstring("they are cut short"));
    auto later = bytes;
    later[4] = std::byte{2};
    CHECK_THAT(reason(later), ContainsSubstring("they are of version 2"));
    auto changed = bytes;
    changed[30] ^= std::byte{1};
    CHECK_THAT(reason(changed), ContainsSubstring("were changed"));
}

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
