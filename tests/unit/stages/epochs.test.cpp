#include <weir/stages/epochs.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/zip.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/cache.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::draw;
using weir::duration;
using weir::task;
using weir::virtual_time;
using weir::detail::origin;
using weir::detail::progress_recorder;
using weir::detail::provenance;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using nested = std::vector<ints>;

namespace {

template <class Run>
auto by_epoch(Run& run) {
    std::vector<std::vector<typename Run::value_type>> all;
    for (auto& epoch : run.epochs()) {
        CHECK(epoch.number() == all.size());
        all.emplace_back();
        for (auto& item : epoch) all.back().push_back(std::move(item));
    }
    return all;
}
template <class Run>
auto by_epoch(Run&& run) {
    return by_epoch(run);
}

template <class Make>
nested of_source(Make make, std::uint64_t count) {
    virtual_time time;
    return by_epoch((weir::source(weir::epochs(std::move(make), count)) | weir::sink()).start(time));
}

// Item i of epoch e is 1000 e + i; how many there are is drawn.
auto thousands(std::vector<int> sizes) {
    const std::size_t count = sizes.size();
    return weir::source(weir::epochs(
        [sizes = std::move(sizes)](std::uint64_t e) {
            const int first = static_cast<int>(e) * 1000;
            return std::views::iota(first, first + sizes.at(e));
        },
        count));
}

std::vector<int> random_sizes(std::mt19937_64& random) {
    std::vector<int> sizes(random() % 8);
    for (int& n : sizes)
        n = random() % 3 == 0 ? static_cast<int>(random() % 2) : static_cast<int>(random() % 20);
    return sizes;
}

nested expected_of(const std::vector<int>& sizes) {
    nested all;
    for (std::size_t e = 0; e < sizes.size(); ++e) {
        all.emplace_back();
        for (int i = 0; i < sizes[e]; ++i) all.back().push_back(static_cast<int>(e) * 1000 + i);
    }
    return all;
}

nested sorted(nested all) {
    for (ints& each : all) std::ranges::sort(each);
    return all;
}

auto random_delays(std::uint64_t seed) {
    return [seed](int n) -> task<int> {
        std::mt19937_64 random(seed + static_cast<std::uint64_t>(n));
        co_await weir::sleep_for(duration(random() % 5 * (random() % 40)));
        co_return n;
    };
}

}  // namespace

TEST_CASE("epochs are made of ranges, containers and generators, each anew") {
    const nested twice = {{0, 1, 2}, {0, 1, 2}};
    CHECK(of_source(ints{0, 1, 2}, 2) == twice);
    CHECK(of_source(std::list<int>{0, 1, 2}, 2) == twice);
    CHECK(of_source(std::views::iota(0, 3), 2) == twice);
    CHECK(of_source([] { return std::views::iota(0, 3); }, 2) == twice);
    CHECK(of_source([](std::uint64_t) { return ints{0, 1, 2}; }, 2) == twice);
    CHECK(of_source([](std::uint64_t e) { return ints(e, static_cast<int>(e)); }, 4) ==
          nested{{}, {1}, {2, 2}, {3, 3, 3}});
    const auto generated = [](std::uint64_t e) -> weir::generator<int> {
        for (std::uint64_t i = 0; i < e; ++i) co_yield static_cast<int>(i);
    };
    CHECK(of_source(generated, 4) == nested{{}, {0}, {0, 1}, {0, 1, 2}});
    const auto awaited = [](std::uint64_t e) -> weir::async_generator<int> {
        for (std::uint64_t i = 0; i < e; ++i) {
            co_await weir::sleep_for(1s);
            co_yield static_cast<int>(i);
        }
    };
    CHECK(of_source(awaited, 4) == nested{{}, {0}, {0, 1}, {0, 1, 2}});
    const ints kept = {0, 1, 2};
    CHECK(of_source(std::ref(kept), 2) == twice);
    const auto pulled = [](std::uint64_t) {
        return [n = 0]() mutable { return n == 3 ? std::nullopt : std::optional<int>(n++); };
    };
    CHECK(of_source(pulled, 2) == twice);
    CHECK(of_source(ints{1}, 0).empty());
    CHECK(of_source(ints{}, 3) == nested{{}, {}, {}});
    CHECK(of_source(ints{5}, 3) == nested{{5}, {5}, {5}});
}

TEST_CASE("endless epochs of an empty container are refused with a sentence") {
    CHECK(items::message_of([] { static_cast<void>(weir::epochs(ints())); }) ==
          "weir: the container given to epochs is empty, and so is each of its endless epochs; give their "
          "number");
    CHECK_NOTHROW(static_cast<void>(weir::epochs(ints(), 3)));
    CHECK_NOTHROW(static_cast<void>(weir::epochs([] { return ints(); })));
    CHECK_NOTHROW(static_cast<void>(weir::epochs(std::views::iota(0, 0))));
}

TEST_CASE("endless epochs of a sampler without draws for the rank are refused with a sentence") {
    const weir::sampler nothing({.size = 0});
    const weir::sampler no_own({.size = 3, .shard = {3, 4}});
    for (const weir::sampler& none : {nothing, no_own}) {
        CHECK(items::message_of([&] { static_cast<void>(weir::draws(none)); }) ==
              "weir: the sampler given to draws has no draws for this rank, as its size is 0 or below the "
              "number of ranks, so each of its endless epochs is empty; give their number");
        CHECK_NOTHROW(static_cast<void>(weir::draws(none, 3)));
    }
    CHECK_NOTHROW(static_cast<void>(weir::draws(weir::sampler({.size = 3, .shard = {2, 4}}))));
    CHECK_NOTHROW(
        static_cast<void>(weir::draws(weir::sampler({.size = 3, .shard = {3, 4}, .tail = weir::tail::pad}))));
}

TEST_CASE("a get with a time-out ends also if a source gives nothing but ends of epochs") {
    weir::thread_pool pool(1);
    auto run = (weir::source(weir::epochs([] { return ints(); })) | weir::sink(1)).start(pool);
    CHECK(run.get(std::chrono::milliseconds(1)).status() == weir::channel_status::timed_out);
}

TEST_CASE("a get that doesn't wait takes the item behind the end of an epoch") {
    virtual_time time;
    auto run = (weir::source(weir::epochs([] { return ints{1}; }, 3)) | weir::sink(8)).start(time);
    weir::sync_wait(time, weir::sleep_for(1s));
    int taken = 0;
    while (run.get(0ms)) ++taken;
    CHECK(taken == 3);
    CHECK(run.get(0ms).status() == weir::channel_status::closed);
}

TEST_CASE("an epoch is made when the one before has been pulled, and a run makes its own") {
    virtual_time time;
    std::vector<std::uint64_t> made;
    const auto make = [&made](std::uint64_t e) {
        made.push_back(e);
        return std::views::iota(0, 6);
    };
    const auto pipeline = weir::source(weir::epochs(make), {.capacity = 1}) | weir::sink(1);
    auto run = pipeline.start(time);
    CHECK(run.get() == 0);
    CHECK(made == std::vector<std::uint64_t>{0});
    for (int i = 0; i < 59; ++i) CHECK(run.get().has_value());
    CHECK(made.size() <= 12);
    CHECK(made.size() >= 10);
    run.stop();
    made.clear();
    auto other = pipeline.start(time);
    CHECK(other.get() == 0);
    CHECK(made == std::vector<std::uint64_t>{0});
}

TEST_CASE("what goes wrong in the source fails the run in the middle of the epoch, or at its beginning") {
    virtual_time time;
    SECTION("an exception of its values") {
        const auto make = [](std::uint64_t e) -> weir::generator<int> {
            co_yield static_cast<int>(e);
            if (e == 1) throw std::runtime_error("of the values");
            co_yield static_cast<int>(10 + e);
        };
        const auto end = take_until_failure((weir::source(weir::epochs(make)) | weir::sink()).start(time));
        CHECK(end.taken == ints{0, 10, 1});
        CHECK(end.inside == "of the values");
        REQUIRE(end.failed != nullptr);
        CHECK(end.failed->stage() == "src");
        CHECK(end.failed->item() == 3);
    }
    SECTION("an exception of its values that come later") {
        const auto make = [](std::uint64_t e) -> weir::async_generator<int> {
            co_yield static_cast<int>(e);
            co_await weir::sleep_for(1s);
            if (e == 1) throw std::runtime_error("of the values");
            co_yield static_cast<int>(10 + e);
        };
        const auto end = take_until_failure((weir::source(weir::epochs(make)) | weir::sink()).start(time));
        CHECK(end.taken == ints{0, 10, 1});
        CHECK(end.inside == "of the values");
    }
    SECTION("an exception of what makes an epoch") {
        const auto make = [](std::uint64_t e) {
            if (e == 2) throw std::runtime_error("of the maker");
            return ints(2, static_cast<int>(e));
        };
        auto run = (weir::source(weir::epochs(make)) | weir::aggregate(4) | weir::sink()).start(time);
        const auto end = take_until_failure(run);
        CHECK(end.taken == nested{{0, 0}, {1, 1}});
        CHECK(end.inside == "of the maker");
    }
}

TEST_CASE("stages of several slots never mix epochs, whatever each item takes") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed);
        const auto sizes = random_sizes(random);
        std::string wrong;
        std::set<std::uint64_t> numbers;
        const auto look = [&](int n, const weir::invocation& call) -> task<int> {
            if (call.epoch() != static_cast<std::uint64_t>(n) / 1000) wrong += "epoch ";
            if (call.slot() >= 4 || call.stage() != "look") wrong += "call ";
            if (!numbers.insert(call.item()).second) wrong += "number ";
            co_await weir::sleep_for(duration(n * 7919 % 40));
            co_return n;
        };
        const auto twice = [](int n) -> weir::async_generator<int> {
            co_yield n;
            co_await weir::sleep_for(duration(n % 17));
            co_yield n + 500;
        };
        const auto order = [&random] {
            return random() % 2 == 0 ? weir::output_order::input : weir::output_order::completion;
        };
        const auto slots = [&random] { return random() % 4 + 1; };
        virtual_time time(seed);
        auto run =
            (thousands(sizes) |
             weir::pipe(random_delays(seed),
                        {.concurrency = slots(), .output_order = order(), .capacity = random() % 3 + 1}) |
             weir::pipe(look, {.name = "look", .concurrency = slots(), .output_order = order()}) |
             weir::pipe(twice, {.concurrency = slots(), .capacity = random() % 3 + 1}) |
             weir::aggregate(random() % 4 + 1) | weir::disaggregate() |
             weir::pipe(random_delays(seed + 1), {.concurrency = slots(), .output_order = order()}) |
             weir::sink(random() % 3 + 1))
                .start(time);
        nested expected = expected_of(sizes);
        std::size_t items = 0;
        for (ints& each : expected) {
            items += each.size();
            const ints once = each;
            for (const int n : once) each.push_back(n + 500);
        }
        if (sorted(by_epoch(run)) != sorted(expected)) FAIL("epochs are mixed with seed " << seed);
        if (!wrong.empty()) FAIL(wrong << "with seed " << seed);
        if (numbers.size() != items || (items != 0 && *numbers.rbegin() != items - 1)) {
            FAIL("numbers with seed " << seed);
        }
    }
}

TEST_CASE("what passes of an epoch keeps the order of the input, where that is asked for") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::mt19937_64 random(seed);
        const auto sizes = random_sizes(random);
        const auto some = [delay = random_delays(seed)](int n) -> task<std::optional<int>> {
            auto pending = delay(n);
            const int same = co_await std::move(pending);
            if (same % 7 == 3) throw std::runtime_error("tolerated");
            if (same % 5 == 0) co_return std::nullopt;
            co_return same;
        };
        virtual_time time(seed);
        auto run =
            (thousands(sizes) |
             weir::pipe(some, {.concurrency = 4, .output_order = weir::output_order::input}) | weir::sink())
                .start(time, {.max_failures = weir::unlimited});
        nested expected = expected_of(sizes);
        for (ints& each : expected) {
            std::erase_if(each, [](int n) { return n % 7 == 3 || n % 5 == 0; });
        }
        if (by_epoch(run) != expected) FAIL("out of order with seed " << seed);
    }
}

TEST_CASE("a batch holds items of one epoch: its rest is given at the end of it, or dropped") {
    virtual_time time;
    const std::vector<int> sizes = {5, 0, 4, 1, 8};
    const auto batches = [&](weir::aggregate_options o) {
        std::vector<std::vector<std::size_t>> all;
        auto run = (thousands(sizes) | weir::aggregate(4, o) | weir::sink()).start(time);
        for (const auto& epoch : by_epoch(run)) {
            all.emplace_back();
            for (const ints& batch : epoch) {
                all.back().push_back(batch.size());
                CHECK(batch.front() / 1000 == static_cast<int>(all.size()) - 1);
                CHECK(batch.back() / 1000 == static_cast<int>(all.size()) - 1);
            }
        }
        return all;
    };
    CHECK(batches({}) == std::vector<std::vector<std::size_t>>{{4, 1}, {}, {4}, {1}, {4, 4}});
    CHECK(batches({.drop_last = true}) == std::vector<std::vector<std::size_t>>{{4}, {}, {4}, {}, {4, 4}});
}

TEST_CASE("the marks of the ends of epochs are counted nowhere, but take time to pass") {
    virtual_time time;
    auto run =
        (thousands({3, 0, 2}) | weir::pipe(random_delays(1), {.name = "a", .concurrency = 2, .capacity = 1}) |
         weir::aggregate(2) | weir::sink(1))
            .start(time);
    const auto check = [&] {
        const auto s = run.stats();
        for (const auto& q : s.channels) {
            CHECK(q.num_put - q.num_get == q.size);
            CHECK(q.put_waits.count() == q.num_put);
            CHECK(q.get_waits.count() == q.num_get);
        }
        for (const auto& stage : s.stages)
            CHECK(stage.times().total() == std::ssize(stage.per_slot) * s.elapsed);
    };
    for (int i = 0; i < 100; ++i) {
        time.run_until(time.now() + 1ns);
        check();
    }
    while (run.get()) check();
    const auto s = run.stats();
    CHECK(s.channels.at(0).num_put == 5);
    CHECK(s.channels.at(0).num_get == 5);
    CHECK(s.channels.at(1).num_get == 5);
    CHECK(s.channels.at(2).num_put == 3);
    CHECK(s.channels.at(3).num_get == 3);
    CHECK(s.stages.at(0).num_tasks == 5);
    CHECK(s.stages.at(1).num_tasks == 5);
    CHECK(s.stages.at(2).num_tasks == 5);

    // A queue that holds nothing but marks has no items in it.
    auto marks =
        (weir::source(weir::epochs([] { return ints{}; }), {.capacity = 4}) | weir::sink(3)).start(time);
    time.run_until(time.now() + 1s);
    for (const auto& q : marks.stats().channels) {
        CHECK(q.size == 0);
        CHECK(q.num_put == 0);
        CHECK(q.num_get == 0);
    }
    marks.stop();
    for (const auto& q : marks.stats().channels) CHECK(q.num_get == 0);
}

TEST_CASE("a run can be stopped in the middle of an epoch and between two, at any step") {
    for (int steps = 0; steps < 120; ++steps) {
        items::ledger book(1000);
        {
            virtual_time time(static_cast<std::uint64_t>(steps));
            const auto make = [&book](std::uint64_t e) -> weir::generator<items::counted> {
                for (std::uint64_t i = 0; i < e % 4; ++i) co_yield items::counted(book);
            };
            const auto work = [](items::counted c) -> task<items::counted> {
                co_await weir::sleep_for(static_cast<int>(c.number()) * 7919 % 30 * 1ms);
                co_return c;
            };
            auto run =
                (weir::source(weir::epochs(make), {.capacity = 1}) |
                 weir::pipe(work, {.concurrency = 3, .capacity = 1}) | weir::aggregate(2) | weir::sink(1))
                    .start(time);
            for (int i = 0; i < steps / 8; ++i) static_cast<void>(run.get());
            time.run_until(time.now() + steps % 8 * 7ms);
            if (steps % 2 == 0) {
                run.stop();
                CHECK_FALSE(run.get().has_value());
                CHECK_FALSE(run.get_in_epoch().has_value());
            }
        }
        if (book.alive() != 0 || book.died_twice() != 0) FAIL("items are lost at step " << steps);
    }
}

TEST_CASE("a failure in the middle of an epoch lets nothing of the next one through") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const int bad = static_cast<int>(seed % 5) * 1000 + static_cast<int>(seed % 7);
        const bool ordered = seed % 2 == 0;
        const auto picky = [delay = random_delays(seed), bad](int n) -> task<int> {
            auto pending = delay(n);
            const int same = co_await std::move(pending);
            if (same == bad) throw std::runtime_error("bad");
            co_return same;
        };
        virtual_time time(seed);
        auto run = (thousands(std::vector<int>(6, 8)) |
                    weir::pipe(picky, {.concurrency = 4,
                                       .output_order = ordered ? weir::output_order::input
                                                               : weir::output_order::completion}) |
                    weir::sink())
                       .start(time);
        const auto end = take_until_failure(run);
        INFO("seed " << seed);
        REQUIRE(end.failed != nullptr);
        CHECK(end.failed->item() == static_cast<std::uint64_t>(bad / 1000 * 8 + bad % 1000));
        ints before;
        for (int e = 0; e < 6; ++e) {
            for (int i = 0; i < 8; ++i) {
                if (e * 1000 + i < bad) before.push_back(e * 1000 + i);
            }
        }
        if (ordered) {
            CHECK(end.taken == before);
        } else {
            CHECK(std::ranges::all_of(end.taken, [&](int n) { return n / 1000 <= bad / 1000; }));
            const auto whole = bad / 1000 * 8;
            ints first(end.taken.begin(), end.taken.begin() + whole);
            std::ranges::sort(first);
            CHECK(std::ranges::equal(first, before | std::views::take(whole)));
        }
    }
}

TEST_CASE("on a pool stages of several slots never mix epochs, measured or not") {
    weir::thread_pool pool(3);
    const auto waits = [](int n) -> task<int> {
        if (n % 3 == 0) co_await weir::yield();
        co_return n;
    };
    const auto pipeline = thousands(std::vector<int>(40, 37)) | weir::pipe(waits, {.concurrency = 4}) |
                          weir::pipe([](int n) { return n; }, {.concurrency = 3, .capacity = 1}) |
                          weir::aggregate(5) | weir::disaggregate() | weir::sink();
    const nested expected = expected_of(std::vector<int>(40, 37));
    auto run = pipeline.start(pool);
    CHECK((sorted(by_epoch(run)) == expected));
    auto plain = pipeline.start<weir::unmeasured>(pool);
    CHECK((sorted(by_epoch(plain)) == expected));
    auto consumed_by_coroutine = pipeline.start(pool);
    const auto count = [](auto& r) -> task<std::size_t> {
        std::size_t n = 0;
        while (const auto item = co_await r.next()) n += *item >= 0 ? 1U : 0U;
        co_return n;
    };
    CHECK(weir::sync_wait(count(consumed_by_coroutine)) == 40 * 37);
}

TEST_CASE("the draws of a sampler are a source of epochs") {
    virtual_time time;
    const auto pipeline = weir::source(weir::draws(weir::sampler({.size = 5, .shuffle = false}), 2)) |
                          weir::pipe([](draw d) { return static_cast<int>(d.index); }) | weir::aggregate(2) |
                          weir::sink();
    auto run = pipeline.start(time);
    CHECK(by_epoch(run) == std::vector<nested>{{{0, 1}, {2, 3}, {4}}, {{0, 1}, {2, 3}, {4}}});
    CHECK(run.checkpoint().watermark() == 10);
    // Another run of it begins anew, with books of its own.
    auto other = pipeline.start(time);
    CHECK(other.get() == ints{0, 1});
    CHECK(other.checkpoint().watermark() == 2);
    CHECK(run.checkpoint().watermark() == 10);
    auto none = (weir::source(weir::epochs(ints{1})) | weir::sink()).start(time);
    CHECK(items::contains(
        items::message_of([&] { static_cast<void>(none.checkpoint()); }),
        "weir: this run has no checkpoint: its one source has to be a sampler, which knows where to go on"));
}

TEST_CASE("a checkpoint holds what the consumer has taken, and not what is finished for it") {
    virtual_time time;
    auto run = (weir::source(weir::draws(weir::sampler({.size = 10, .shuffle = false}))) |
                weir::pipe([](draw d) { return d; }, {.capacity = 4}) | weir::sink(5))
                   .start(time);
    time.run_until(weir::time_point(1s));
    CHECK(run.checkpoint().watermark() == 0);
    CHECK(run.get()->position == 0);
    CHECK(run.checkpoint().watermark() == 1);
    // Looked at by a loop over epochs that takes nothing.
    for (auto& epoch : run.epochs()) {
        CHECK(epoch.number() == 0);
        break;
    }
    CHECK(run.checkpoint().watermark() == 1);
    CHECK(run.get_in_epoch()->position == 1);
    CHECK(weir::sync_wait(time, run.next_in_epoch())->position == 2);
    CHECK((*run.get(1s)).position == 3);
    for (const draw& d : run) {
        CHECK(run.checkpoint().watermark() == d.position + 1);
        if (d.position == 6) break;
    }
    run.stop();
    CHECK(run.checkpoint().watermark() == 7);
}

namespace {

// An aggregator of one's own.
struct by_four {
    std::vector<draw> all;
    std::optional<std::vector<draw>> accumulate(draw d) {
        all.push_back(d);
        if (all.size() < 4) return std::nullopt;
        return std::exchange(all, {});
    }
    std::optional<std::vector<draw>> flush() {
        if (all.empty()) return std::nullopt;
        return std::exchange(all, {});
    }
    bool keeps_last() const { return false; }
};

}  // namespace

TEST_CASE(
    "what was made of a draw is taken whole, or not at all, or dropped, in a checkpoint, or it is refused") {
    virtual_time time;
    // Only a stage that has gone on knows that nothing more comes of an item.
    const auto settled = [&time](auto& run) {
        time.run_until(time.now() + 1ns);
        return run.checkpoint().watermark();
    };
    const auto settles_at_thirds = [&](auto& run, std::uint64_t taken) {
        if (taken % 3 == 0) {
            CHECK(settled(run) == taken / 3);
        } else {
            CHECK_THROWS_AS(settled(run), std::logic_error);
        }
    };
    const auto sampled = weir::source(weir::draws(weir::sampler({.size = 10, .shuffle = false}), 1));
    SECTION("a generator's values") {
        const auto thrice = [](draw d) -> weir::generator<draw> {
            for (int i = 0; i < 3; ++i) co_yield d;
        };
        auto run = (sampled | weir::pipe(thrice) | weir::sink()).start(time);
        for (std::uint64_t taken = 1; taken <= 30; ++taken) {
            CHECK(run.get().has_value());
            settles_at_thirds(run, taken);
        }
    }
    SECTION("a generator's values, put together otherwise") {
        const auto thrice = [](draw d) -> weir::generator<draw> {
            for (int i = 0; i < 3; ++i) co_yield d;
        };
        auto run = (sampled | weir::pipe(thrice) | weir::aggregate(4) | weir::sink()).start(time);
        for (std::uint64_t taken = 4; taken <= 30; taken += 4) {
            CHECK(run.get().has_value());
            settles_at_thirds(run, taken);
        }
        CHECK(run.get().has_value());
        CHECK(settled(run) == 10);
    }
    SECTION("parts of what was taken apart") {
        auto run = (sampled | weir::aggregate(3) | weir::disaggregate() | weir::sink()).start(time);
        for (std::uint64_t taken = 1; taken <= 10; ++taken) {
            CHECK(run.get().has_value());
            CHECK(run.checkpoint().watermark() == taken);
        }
    }
    SECTION("parts of what a function has made of batches, which says of which elements, or doesn't") {
        const auto backwards = [](std::vector<draw> all) {
            std::ranges::reverse(all);
            return all;
        };
        const auto begin = [&](bool elementwise) {
            return (sampled | weir::aggregate(3) | weir::pipe(backwards, {.elementwise = elementwise}) |
                    weir::disaggregate() | weir::sink())
                .start(time);
        };
        auto said = begin(true);
        auto unknown = begin(false);
        for (std::uint64_t taken = 1; taken <= 9; ++taken) {
            CHECK(said.get().has_value());
            CHECK(said.checkpoint().watermark() == taken);
            CHECK(unknown.get().has_value());
            if (taken % 3 == 0) {
                CHECK(unknown.checkpoint().watermark() == taken);
            } else {
                CHECK(items::contains(
                    items::message_of([&] { static_cast<void>(unknown.checkpoint()); }),
                    "weir: no checkpoint is exact now: of what was made of one draw, or of one batch"));
            }
        }
    }
    SECTION("an item that is dropped, or fails, at once") {
        const auto some = [](draw d) -> std::optional<draw> {
            if (d.position % 3 == 1) throw std::runtime_error("tolerated");
            if (d.position % 3 == 2) return std::nullopt;
            return d;
        };
        auto run =
            (sampled | weir::pipe(some) | weir::sink(1)).start(time, {.max_failures = weir::unlimited});
        CHECK(run.get()->position == 0);
        CHECK(settled(run) == 3);
        CHECK(run.get()->position == 3);
        CHECK(take_all(run).size() == 2);
        CHECK(settled(run) == 10);
    }
    SECTION("a generator that gives nothing") {
        const auto nothing = [](draw d) -> weir::generator<draw> {
            if (d.position == 9) co_yield d;
        };
        auto run = (sampled | weir::pipe(nothing, {.concurrency = 2}) | weir::sink()).start(time);
        CHECK(run.get()->position == 9);
        CHECK(settled(run) == 10);
    }
    SECTION("a batch that is dropped at the end of its epoch") {
        const auto check = [&](auto stage) {
            auto run = (sampled | stage | weir::sink()).start(time);
            CHECK(run.get()->size() == 4);
            CHECK(run.get()->size() == 4);
            CHECK_FALSE(run.get().has_value());
            CHECK(settled(run) == 10);
        };
        check(weir::aggregate(4, true));
        check(weir::aggregate(by_four{}, {.drop_last = true}));
    }
}

TEST_CASE("a batch that is dropped because the run ended early was not taken") {
    const auto check = [](auto stage) {
        for (const bool fails : {false, true}) {
            virtual_time time;
            const auto slow = [fails](draw d) -> task<draw> {
                co_await weir::sleep_for(1s);
                if (fails && d.position == 7) throw std::runtime_error("seven");
                co_return d;
            };
            auto run = (weir::source(weir::draws(weir::sampler({.size = 100, .shuffle = false}))) |
                        weir::pipe(slow) | stage | weir::sink())
                           .start(time);
            CHECK(run.get()->size() == 4);
            time.run_until(weir::time_point(6500ms));  // two are gathered
            if (fails) {
                CHECK(items::contains(items::message_of([&] { static_cast<void>(run.get()); }), "seven"));
            } else {
                run.stop();
            }
            CHECK(run.checkpoint().watermark() == 4);
            CHECK(run.checkpoint().ahead().empty());
        }
    };
    check(weir::aggregate(4, true));
    check(weir::aggregate(by_four{}, {.drop_last = true}));
}

namespace {

// One interrupted run of many ranks: books what each consumer takes, and gives the merged checkpoint.
class interrupted {
  public:
    interrupted(std::uint64_t seed, std::uint64_t size, std::uint64_t epochs)
        : random_(seed), size_(size), epochs_(epochs) {}

    // \param to_the_end  whether each rank goes on to the end of its epochs.
    void run(std::uint32_t world, bool to_the_end) {
        std::vector<weir::checkpoint> all;
        for (std::uint32_t rank = 0; rank < world; ++rank) all.push_back(one(rank, world, to_the_end));
        saved_ = weir::checkpoint::merge(all);
    }

    std::string wrong() const {
        std::string text;
        for (std::uint64_t p = 0; p < size_ * epochs_; ++p) {
            const auto found = taken_.find(p);
            const int times = found == taken_.end() ? 0 : found->second;
            const bool is_dropped = dropped_.contains(p);
            if (times != (is_dropped ? 0 : 1)) {
                text += "position " + std::to_string(p) + " was taken " + std::to_string(times) + " times\n";
            }
        }
        if (!taken_.empty() && taken_.rbegin()->first >= size_ * epochs_) text += "too far\n";
        return text;
    }

  private:
    weir::checkpoint one(std::uint32_t rank, std::uint32_t world, bool to_the_end) {
        virtual_time time(random_());
        const std::uint64_t salt = random_();
        const auto work = [this, salt](draw d) -> task<std::optional<draw>> {
            std::mt19937_64 dice(salt + d.position);
            co_await weir::sleep_for(duration(dice() % 100));
            if (d.position % 13 == 5) {
                dropped_.insert(d.position);
                co_return std::nullopt;
            }
            if (d.position % 17 == 7) {
                dropped_.insert(d.position);
                throw std::runtime_error("tolerated");
            }
            co_return d;
        };
        weir::sampler sampler({.size = size_, .seed = 3, .shard = {rank, world}, .resume = saved_});
        auto run = (weir::source(weir::draws(std::move(sampler), epochs_)) |
                    weir::pipe(work, {.concurrency = 3, .capacity = random_() % 3 + 1}) |
                    weir::aggregate(random_() % 4 + 1) | weir::sink(random_() % 3 + 1))
                       .start(time, {.max_failures = weir::unlimited});
        std::uint64_t batches = to_the_end ? UINT64_MAX : random_() % (size_ * epochs_ / world / 2 + 2);
        for (; batches > 0; --batches) {
            auto batch = run.get();
            if (!batch) break;
            for (const draw& d : *batch) ++taken_[d.position];
        }
        // The stages get ahead of the consumer.
        if (random_() % 2 == 0) time.run_until(time.now() + duration(random_() % 200));
        if (random_() % 3 == 0) {
            run.stop();
            return run.checkpoint();
        }
        const auto bytes = run.checkpoint().to_bytes();
        return weir::checkpoint::from_bytes(bytes);
    }

    std::mt19937_64 random_;
    std::uint64_t size_;
    std::uint64_t epochs_;
    std::optional<weir::checkpoint> saved_;
    std::map<std::uint64_t, int> taken_;
    std::set<std::uint64_t> dropped_;
};

}  // namespace

TEST_CASE("runs that are killed anywhere and resumed with other ranks take each draw exactly once") {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        interrupted training(seed, seed % 23 + 8, seed % 3 + 1);
        training.run(4, false);
        if (seed % 2 == 0) training.run(3, false);
        training.run(8, true);
        if (const std::string wrong = training.wrong(); !wrong.empty()) {
            FAIL("seed " << seed << ":\n" << wrong);
        }
    }
}

TEST_CASE("several samplers can be merged, if they are at the same epoch, and have no checkpoint in common") {
    virtual_time time;
    const auto few = weir::source(weir::draws(weir::sampler({.size = 3}), 2));
    const auto more = weir::source(weir::draws(weir::sampler({.size = 5}), 2));
    auto run = (weir::merge(few, more) | weir::sink()).start(time);
    int epochs = 0;
    for (auto& epoch : run.epochs()) {
        int draws = 0;
        for (const draw& each : epoch) draws += each.index < 5 ? 1 : 100;
        CHECK(draws == 8);
        ++epochs;
    }
    CHECK(epochs == 2);
    CHECK_THROWS_AS(run.checkpoint(), std::logic_error);

    auto half = few | weir::sink();
    auto first = half.start(time);
    for (int i = 0; i < 4; ++i) REQUIRE(first.get());
    const auto late = weir::source(weir::draws(weir::sampler({.size = 3, .resume = first.checkpoint()}), 2));
    CHECK(
        items::message_of([&] { static_cast<void>((weir::merge(late, more) | weir::sink()).start(time)); }) ==
        "weir: the sources and caches of this run begin with epochs 1 and 0; they can only be joined if they "
        "are at "
        "the same one");
}

TEST_CASE("draws of a later epoch can't be joined with epochs, or with a cache, that begin with epoch 0") {
    virtual_time time;
    const auto few = weir::source(weir::draws(weir::sampler({.size = 3}), 2));
    auto first = (few | weir::sink()).start(time);
    for (int i = 0; i < 4; ++i) REQUIRE(first.get());
    const auto late = weir::source(weir::draws(weir::sampler({.size = 3, .resume = first.checkpoint()}), 2));
    const auto labels = weir::source(weir::epochs(ints{1, 2, 3}, 2));
    const auto cached = weir::source(ints{1, 2}) | weir::cache(1);
    const auto message = [&time](const auto& joined) {
        const auto same = [](auto row) { return row; };
        return items::message_of([&] { take_all((joined | weir::pipe(same) | weir::sink()).start(time)); });
    };
    const auto differ = [](const std::string& epochs) {
        return "weir: the sources and caches of this run begin with epochs " + epochs +
               "; they can only be joined if they are at the same one";
    };
    CHECK(message(weir::zip(labels, late)) == differ("0 and 1"));
    CHECK(message(weir::zip(late, labels)) == differ("1 and 0"));
    CHECK(message(weir::zip(cached, late)) == differ("0 and 1"));
    CHECK(message(weir::zip(late, cached)).empty());  // the cache begins with epoch 1, too
    CHECK(message(weir::zip(few, labels)).empty());
}

TEST_CASE("a source is repeated as one stream, until there is nothing to repeat") {
    virtual_time time;
    const auto taken = [&time](auto&& source) {
        auto run = (weir::source(source) | weir::aggregate(4) | weir::sink()).start(time);
        return items::take_all(run);
    };
    CHECK(taken(weir::repeat(ints{1, 2, 3}, 3)) == nested{{1, 2, 3, 1}, {2, 3, 1, 2}, {3}});
    CHECK(taken(weir::repeat(ints{1}, 0)).empty());
    CHECK(taken(weir::repeat(ints())).empty());
    const auto fewer = [](std::uint64_t n) { return ints(n < 3 ? 3 - n : 0, static_cast<int>(n)); };
    CHECK(taken(weir::repeat(fewer)) == nested{{0, 0, 0, 1}, {1, 2}});
    const auto slow = [](std::uint64_t n) -> weir::async_generator<int> {
        for (int i = 0; i < 2; ++i) {
            co_await weir::sleep_for(1ms);
            co_yield static_cast<int>(n) * 10 + i;
        }
    };
    CHECK(taken(weir::repeat(slow, 2)) == nested{{0, 1, 10, 11}});
}

namespace {

provenance of(progress_recorder& recorder, std::uint64_t position) {
    return provenance(0, std::make_shared<origin>(position, recorder));
}
void take(progress_recorder& recorder, std::uint64_t position) { of(recorder, position).acknowledge(true); }

}  // namespace

TEST_CASE("several threads settle items at once, and a checkpoint has either all draws of an item or none") {
    const weir::sampler all({.size = 4001});
    progress_recorder recorder(all.start());
    std::vector<std::thread> threads;
    std::atomic<int> left{2};
    for (std::uint64_t t = 0; t < 2; ++t) {
        threads.emplace_back([&recorder, &left, t] {
            for (std::uint64_t i = 4 * t; i < 4000; i += 8) {
                provenance batch;
                for (std::uint64_t k = 0; k < 4; ++k) batch.add(of(recorder, i + k));
                batch.acknowledge(true);
            }
            --left;
        });
    }
    while (left != 0) {
        const auto now = recorder.checkpoint();  // at any time
        if ((now.watermark() + now.ahead().size()) % 4 != 0) FAIL("it has a part of a batch");
        std::this_thread::yield();
    }
    for (auto& t : threads) t.join();
    CHECK(recorder.checkpoint().watermark() == 4000);
    CHECK(recorder.checkpoint().ahead().empty());
}

TEST_CASE("an error while an item is settled is thrown by the next checkpoint") {
    const weir::sampler all({.size = 10});
    progress_recorder recorder(all.start());
    take(recorder, 3);
    CHECK(recorder.checkpoint().ahead().size() == 1);
    take(recorder, 3);
    CHECK_THROWS_AS(recorder.checkpoint(), std::invalid_argument);
}

TEST_CASE("there is no checkpoint while the consumer has only some results of a draw") {
    const weir::sampler all({.size = 10});
    progress_recorder recorder(all.start());
    provenance one = of(recorder, 0);
    provenance other = one.share();
    CHECK(recorder.checkpoint().watermark() == 0);
    one.acknowledge(true);
    CHECK_THROWS_AS(recorder.checkpoint(), std::logic_error);
    other.acknowledge(true);
    CHECK(recorder.checkpoint().watermark() == 1);
}

TEST_CASE("the ends of epochs in a queue with a limit in bytes don't count for the size of its items") {
    virtual_time time;
    auto run = (weir::source(weir::epochs(ints{7}, 4)) | weir::sink()).start(time, {.max_bytes = 1000});
    for (auto& epoch : run.epochs()) CHECK(std::ranges::distance(epoch) == 1);
    CHECK(run.stats().stages[0].setup->item_bytes == sizeof(int));
}
