#include <weir/graph/zip.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"
#include "support/slow_world.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/merge.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

using flows::by_epoch;
using items::contains;
using items::message_of;
using items::take_all;
using items::take_until_failure;
using weir::duration;
using weir::task;
using weir::virtual_time;
using weir::zip;
using namespace std::chrono_literals;
using row2 = std::tuple<int, int>;
using rows2 = std::vector<row2>;
using row3 = std::tuple<int, int, int>;
using rows3 = std::vector<row3>;

namespace {

auto numbers(int from, int to) { return weir::source(std::views::iota(from, to)); }

auto takes(duration d, weir::stage_options o = {}) {
    return weir::pipe(
        [d](int n) -> task<int> {
            co_await weir::sleep_for(d);
            co_return n;
        },
        std::move(o));
}

auto fails_at(int bad) {
    return weir::pipe(
        [bad](int n) {
            if (n == bad) throw std::runtime_error("bad " + std::to_string(n));
            return n;
        },
        {.name = "fails"});
}

auto epochs_of(int base, std::vector<int> sizes) {
    const std::uint64_t count = sizes.size();
    return weir::source(weir::epochs(
        [base, sizes](std::uint64_t e) {
            const int first = base + 10 * static_cast<int>(e);
            return std::views::iota(first, first + sizes.at(e));
        },
        count));
}

}  // namespace

TEST_CASE("rows are made of one item of each, in order, and end with the shortest") {
    virtual_time time;
    CHECK(take_all((zip(numbers(0, 3), numbers(10, 13)) | weir::sink()).start(time)) ==
          rows2{{0, 10}, {1, 11}, {2, 12}});
    CHECK(take_all((zip(numbers(0, 3), weir::source(std::views::iota(10))) | weir::sink()).start(time))
              .size() == 3);
    CHECK(take_all((zip(weir::source(std::views::iota(10)), numbers(0, 3)) | weir::sink()).start(time))
              .size() == 3);
    CHECK(take_all((zip(numbers(0, 5), numbers(10, 12), numbers(20, 30)) | weir::sink()).start(time)) ==
          rows3{{0, 10, 20}, {1, 11, 21}});
    CHECK(take_all((zip(numbers(0, 5), numbers(0, 0)) | weir::sink()).start(time)).empty());
    CHECK(take_all((zip(numbers(0, 2)) | weir::sink()).start(time)) ==
          std::vector<std::tuple<int>>{{0}, {1}});
}

TEST_CASE("rows hold items of different types, also those that only move") {
    virtual_time time;
    std::vector<std::unique_ptr<int>> boxes;
    for (int i = 0; i < 3; ++i) boxes.push_back(std::make_unique<int>(i));
    auto pipeline = zip(weir::source(std::move(boxes)),
                        weir::source({std::string("a"), std::string("b"), std::string("c")})) |
                    weir::pipe([](std::tuple<std::unique_ptr<int>, std::string> row) {
                        return std::get<1>(row) + std::to_string(*std::get<0>(row));
                    }) |
                    weir::sink();
    CHECK(take_all(std::move(pipeline).start(time)) == std::vector<std::string>{"a0", "b1", "c2"});
}

TEST_CASE("slow inputs with stages and slots of their own are zipped in their order") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        virtual_time time(seed);
        auto run =
            (zip(numbers(0, 8) | takes(8ms, {.concurrency = 4, .output_order = weir::output_order::input}),
                 numbers(100, 108) | takes(1ms), numbers(200, 208)) |
             weir::sink())
                .start(time);
        const rows3 all = take_all(run);
        REQUIRE(all.size() == 8);
        for (int i = 0; i < 8; ++i) CHECK(all.at(static_cast<std::size_t>(i)) == row3{i, 100 + i, 200 + i});
        CHECK(time.now() < weir::time_point(20ms));
        CHECK(flows::add_up(run.stats()));
    }
}

TEST_CASE("the times of a zip are those of the queues that it waits for") {
    virtual_time time;
    auto run = (zip(numbers(0, 4) | takes(3ms, {.name = "a"}), numbers(0, 4) | takes(5ms, {.name = "b"})) |
                weir::pipe([](row2 r) { return r; }) | weir::sink())
                   .start(time);
    CHECK(take_all(run).size() == 4);
    const auto stats = run.stats();
    const auto& stage = stats.stages.at(4);
    CHECK(stage.kind == "zip");
    REQUIRE(stage.inputs.size() == 2);
    CHECK(stats.channels.at(stage.inputs.at(0)).name == "a");
    CHECK(stats.channels.at(stage.inputs.at(1)).name == "b");
    CHECK(stats.channels.at(stage.outputs.at(0)).name == "zip#4");
    CHECK(stage.times().wait_get ==
          stats.channels.at(stage.inputs.at(0)).get_wait + stats.channels.at(stage.inputs.at(1)).get_wait);
    CHECK(stage.times().wait_get == 20ms);
    CHECK(stage.times().await == 0ms);
    CHECK(flows::add_up(stats));
}

TEST_CASE("a zip that can't run yet is ready to run, and waits for nothing") {
    slow_world world;
    auto run = (zip(numbers(0, 1), numbers(0, 1)) | weir::sink()).start(world);
    world.pass(3s);
    CHECK(take_all(run) == rows2{{0, 0}});
    for (const auto& stage : run.stats().stages) {
        INFO(stage.name);
        CHECK((stage.kind == "sink" ? stage.times().wait_get : stage.times().runnable) == 3s);
    }
}

TEST_CASE("an epoch ends when it has ended in one input, and the rest of it is passed over") {
    using epochs = std::vector<std::pair<std::size_t, rows2>>;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        CHECK(
            by_epoch(
                (zip(epochs_of(0, {2, 3, 0, 1}), epochs_of(100, {2, 1, 2, 4})) | weir::sink()).start(time)) ==
            epochs{{0, {{0, 100}, {1, 101}}}, {1, {{10, 110}}}, {2, {}}, {3, {{30, 130}}}});
        CHECK(by_epoch((zip(epochs_of(0, {9, 0}), epochs_of(100, {0, 1, 1})) | weir::sink()).start(time)) ==
              epochs{{0, {}}, {1, {}}});
    }
    virtual_time time;
    const auto three =
        by_epoch((zip(epochs_of(0, {3, 2}), epochs_of(100, {1, 9}), epochs_of(200, {2, 3})) | weir::sink())
                     .start(time));
    REQUIRE(three.size() == 2);
    CHECK(three.at(0).second == rows3{{0, 100, 200}});
    CHECK(three.at(1).second == rows3{{10, 110, 210}, {11, 111, 211}});
}

TEST_CASE("an aggregate behind a zip of epochs never mixes them") {
    virtual_time time;
    const auto all = by_epoch(
        (zip(epochs_of(0, {3, 3}), epochs_of(100, {5, 2})) | weir::aggregate(2) | weir::sink()).start(time));
    REQUIRE(all.size() == 2);
    CHECK(all.at(0).second == std::vector<rows2>{{{0, 100}, {1, 101}}, {{2, 102}}});
    CHECK(all.at(1).second == std::vector<rows2>{{{10, 110}, {11, 111}}});
}

TEST_CASE("only a zip of one sampler has a checkpoint") {
    virtual_time time;
    const auto sampled = weir::source(weir::draws(weir::sampler({.size = 10, .shuffle = false}), 2));
    auto two = (zip(sampled, epochs_of(0, {4, 4})) | weir::sink()).start(time);
    CHECK(two.get().has_value());
    CHECK_THROWS_AS(two.checkpoint(), std::logic_error);
    auto one = (zip(sampled) | weir::sink()).start(time);
    CHECK(one.get().has_value());
    CHECK(one.checkpoint().watermark() == 1);
}

TEST_CASE("a failure in one input ends the zip behind the rows that were whole") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        virtual_time time(seed);
        for (const bool first : {true, false}) {
            const auto good = [] { return weir::source(std::views::iota(0)) | takes(1ms); };
            const auto bad = [] { return numbers(0, 100) | fails_at(4); };
            const auto end = first ? take_until_failure((zip(bad(), good()) | weir::sink()).start(time))
                                   : take_until_failure((zip(good(), bad()) | weir::sink()).start(time));
            REQUIRE(end.failed);
            CHECK(end.failed->stage() == "fails");
            CHECK(end.taken == rows2{{0, 0}, {1, 1}, {2, 2}, {3, 3}});
        }
    }
}

TEST_CASE("an end, or a failure, of one input is seen when the zip comes to that input") {
    const auto never = [n = 0]() mutable -> task<std::optional<int>> {
        if (n == 2) co_await weir::sleep_for(24h);
        co_return n++;
    };
    for (const bool first : {true, false}) {
        virtual_time time;
        const auto silent = weir::source(never);
        const auto bad = numbers(0, 9) | takes(1s) | fails_at(2);
        const auto judge = [&](auto run) {
            const auto end = take_until_failure(run);
            REQUIRE(end.failed);
            CHECK(end.taken == rows2{{0, 0}, {1, 1}});
            // It waits for one of them at a time, the first that was named first.
            CHECK(time.now() == weir::time_point(first ? duration(3s) : duration(24h)));
        };
        if (first) {
            judge((zip(bad, silent) | weir::sink()).start(time));
        } else {
            judge((zip(silent, bad) | weir::sink()).start(time));
        }
    }
}

TEST_CASE("a failure behind the zip, or a consumer that leaves, ends all inputs") {
    items::ledger book(50'000);
    const auto made = [&book] {
        return weir::source(std::views::iota(0)) | weir::pipe([&book](int) { return items::counted(book); });
    };
    using pair = std::tuple<items::counted, items::counted>;
    const auto pipeline =
        zip(made(), made() | weir::pipe([](items::counted c) { return c; }, {.concurrency = 3})) |
        weir::sink();
    {
        virtual_time time;
        auto run = pipeline.start(time);
        for (int i = 0; i < 30; ++i) CHECK(run.get().has_value());
    }
    {
        weir::thread_pool pool(2);
        auto run = pipeline.start(pool);
        for (int i = 0; i < 30; ++i) CHECK(run.get().has_value());
    }
    {
        virtual_time time;
        const auto fails = weir::pipe([n = 0](pair p) mutable {
            if (++n == 9) throw std::runtime_error("behind");
            return p;
        });
        CHECK(take_until_failure((zip(made(), made()) | fails | weir::sink()).start(time)).taken.size() == 8);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("with the shortest input the others end, and nothing of theirs waits for the end of the run") {
    virtual_time time;
    items::ledger book(1'000);
    const auto made = weir::source(std::views::iota(0)) |
                      weir::pipe([&book](int) { return items::counted(book); }, {.name = "long"});
    auto run = (zip(numbers(0, 2), made) | weir::pipe([](auto row) { return std::get<0>(row); }) |
                takes(1s, {.name = "slow"}) | weir::sink())
                   .start(time);
    CHECK(run.get() == 0);
    CHECK(time.now() == weir::time_point(1s));
    CHECK(book.born() > 2);
    CHECK(book.alive() == 0);
    const weir::pipeline_stats stats = run.stats();
    CHECK(stats.stages.at(2).name == "long");
    CHECK(stats.stages.at(2).times().off == 1s);
    CHECK(run.get() == 1);
    CHECK_FALSE(run.get().has_value());
}

TEST_CASE("zips are inputs of zips and merges") {
    virtual_time time;
    using nested = std::tuple<row2, int>;
    CHECK(take_all((zip(zip(numbers(0, 3), numbers(10, 13)), numbers(20, 22)) | weir::sink()).start(time)) ==
          std::vector<nested>{{{0, 10}, 20}, {{1, 11}, 21}});
    const auto pair_up = weir::pipe([](row2 r) { return std::get<0>(r) + std::get<1>(r); });
    CHECK(take_all((weir::merge({.order = weir::merge_order::round_robin},
                                zip(numbers(0, 3), numbers(10, 13)) | pair_up, numbers(50, 52)) |
                    weir::sink())
                       .start(time)) == std::vector<int>{10, 50, 12, 51, 14});
}

TEST_CASE("a zip is a value: copied, changed by name, started again, and refused with two slots") {
    virtual_time time;
    auto pipeline =
        zip({.name = "rows", .capacity = 4}, weir::source({1, 2}, {.name = "left"}), numbers(5, 9)) |
        weir::sink();
    const auto copy = pipeline;
    CHECK(take_all(pipeline.start(time)) == rows2{{1, 5}, {2, 6}});
    CHECK(take_all(copy.start(time)) == rows2{{1, 5}, {2, 6}});
    CHECK(take_all(copy.start<weir::unmeasured>(time)) == rows2{{1, 5}, {2, 6}});
    auto run = copy.start(time);
    CHECK(run.stages() == std::vector<std::string>{"left", "src", "rows", "sink"});
    CHECK(run.stats().channels.at(2).capacity == 4);
    pipeline.options("rows").concurrency = 2;
    CHECK(contains(message_of([&] { static_cast<void>(pipeline.start(time)); }),
                   "weir: stage 'rows' zips: it makes one row after the other, its concurrency is 1"));
}
