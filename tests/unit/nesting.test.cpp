// A run as the source of another one.
#include <weir/stages/pipeline.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/zip.hpp>
#include <weir/run/failure.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::message_of;
using items::take_all;
using items::take_until_failure;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

auto plus(int m) {
    return weir::pipe([m](int n) { return n + m; });
}

auto slowly(weir::duration d) {
    return weir::pipe([d](int n) -> task<int> {
        co_await weir::sleep_for(d);
        co_return n;
    });
}

auto fails_at(int bad, std::string name) {
    return weir::pipe(
        [bad](int n) {
            if (n == bad) throw std::runtime_error("bad " + std::to_string(n));
            return n;
        },
        {.name = std::move(name)});
}

}  // namespace

TEST_CASE("a run is the source of another one, on the same executor or its own") {
    const auto inner = weir::source(std::views::iota(0, 5)) | plus(10) | weir::sink();
    virtual_time time;
    CHECK(take_all((weir::source(inner.start(time)) | plus(100) | weir::sink()).start(time)) ==
          ints{110, 111, 112, 113, 114});
    weir::thread_pool one(1), two(1);
    CHECK(take_all((weir::source(inner.start(one)) | plus(100) | weir::sink()).start(two)) ==
          ints{110, 111, 112, 113, 114});
    CHECK(take_all((weir::source(inner.start<weir::unmeasured>(one)) | plus(100) | weir::sink())
                       .start<weir::summed>(one)) == ints{110, 111, 112, 113, 114});
    // Three deep, and what was taken before is not given again.
    auto first = inner.start(time);
    CHECK(first.get() == 10);
    auto second = (weir::source(std::move(first)) | plus(100) | weir::sink()).start(time);
    auto third = (weir::source(std::move(second)) | plus(1'000) | weir::sink()).start(time);
    CHECK(take_all(third) == ints{1111, 1112, 1113, 1114});
}

TEST_CASE("the source's time is that of waiting for the run inside of it") {
    virtual_time time;
    auto run =
        (weir::source((weir::source(std::views::iota(0, 4)) | slowly(5ms) | weir::sink()).start(time)) |
         plus(1) | weir::sink())
            .start(time);
    CHECK(take_all(run).size() == 4);
    const auto stats = run.stats();
    CHECK(stats.stages.at(0).times().await == 20ms);
    CHECK(stats.stages.at(0).times().run == 0ms);
    CHECK(stats.stages.at(0).num_tasks == 4);
    CHECK(stats.stages.at(0).busy == 20ms);
    CHECK(flows::add_up(stats));
}

TEST_CASE("a failure inside is the failure of the source outside, with all that led to it") {
    virtual_time time;
    auto run =
        (weir::source((weir::source(std::views::iota(0, 9)) | fails_at(3, "deep") | weir::sink()).start(time),
                      {.name = "outer_source"}) |
         plus(10) | weir::sink())
            .start(time);
    const auto end = take_until_failure(run);
    CHECK(end.taken == ints{10, 11, 12});
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "outer_source");
    // What is nested in the outer failure is the inner one, and in that the original.
    std::string stage, original;
    try {
        std::rethrow_exception(end.failed->failures().front().error);
    } catch (const weir::pipeline_failure& inner) {
        stage = inner.stage();
        original = items::message_inside(inner);
    }
    CHECK(stage == "deep");
    CHECK(original == "bad 3");
    CHECK_FALSE(run.get().has_value());
}

TEST_CASE("a failure outside, or a consumer that leaves, ends the run inside") {
    items::ledger book(20'000);
    const auto inner = weir::source(std::views::iota(0)) |
                       weir::pipe([&book](int) { return items::counted(book); }, {.concurrency = 2}) |
                       weir::sink();
    const auto same = weir::pipe([](items::counted c) { return c; });
    for (int i = 0; i < 5; ++i) {
        virtual_time time;
        auto run = (weir::source(inner.start(time)) | same | weir::sink()).start(time);
        for (int n = 0; n < 3 * i; ++n) CHECK(run.get().has_value());
        weir::thread_pool pool(2);
        auto other = (weir::source(inner.start(pool)) | same | weir::sink()).start(pool);
        for (int n = 0; n < 3 * i; ++n) CHECK(other.get().has_value());
    }
    {
        virtual_time time;
        const auto fails = weir::pipe([n = 0](items::counted c) mutable {
            if (++n == 5) throw std::runtime_error("five");
            return c;
        });
        const auto end =
            take_until_failure((weir::source(inner.start(time)) | fails | weir::sink()).start(time));
        REQUIRE(end.failed);
        CHECK(end.taken.size() == 4);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("a run inside that has stopped is at its end") {
    virtual_time time;
    auto inner = (weir::source(std::views::iota(0)) | weir::sink()).start(time);
    CHECK(inner.get() == 0);
    inner.stop();
    CHECK(take_all((weir::source(std::move(inner)) | weir::sink()).start(time)).empty());
}

TEST_CASE("runs are inputs of merges and zips") {
    virtual_time time;
    const auto start = [&time](int from) {
        return weir::source(
            (weir::source(std::views::iota(from, from + 3)) | slowly(1ms) | weir::sink()).start(time));
    };
    CHECK(
        take_all((weir::merge({.order = weir::merge_order::round_robin}, start(0), start(10)) | weir::sink())
                     .start(time)) == ints{0, 10, 1, 11, 2, 12});
    using rows = std::vector<std::tuple<int, int>>;
    CHECK(take_all((weir::zip(start(0), start(10)) | weir::sink()).start(time)) ==
          rows{{0, 10}, {1, 11}, {2, 12}});
}

TEST_CASE("a run with epochs inside gives its items in their order, without the ends of epochs") {
    virtual_time time;
    auto inner = (weir::source(weir::epochs(ints{1, 2}, 3)) | slowly(1ms) | weir::sink()).start(time);
    auto run = (weir::source(std::move(inner)) | plus(0) | weir::sink()).start(time);
    CHECK(take_all(run) == ints{1, 2, 1, 2, 1, 2});
    CHECK(run.stats().stages.at(0).times().await == 6ms);
}
