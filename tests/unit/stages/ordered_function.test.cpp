#include <weir/stages/ordered_function.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/report/trace.hpp>
#include <weir/run/failure.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using items::take_all;
using items::take_until_failure;
using weir::output_order;
using weir::task;
using weir::virtual_time;
using ints = std::vector<int>;

namespace {

weir::stage_options in_order(std::size_t slots, std::size_t capacity) {
    weir::stage_options o;
    o.name = "work";
    o.concurrency = slots;
    o.output_order = output_order::input;
    o.capacity = capacity;
    return o;
}

ints up_to(int n) {
    ints all;
    for (int i = 0; i < n; ++i) all.push_back(i);
    return all;
}

}  // namespace

TEST_CASE("a slot that is done early works on, as long as the queue behind has a place for its result") {
    // Every tenth item takes 100 ms, the others 10 ms: 1000 ms and 900 ms of work.
    const auto work = [](int n) -> task<int> {
        co_await weir::sleep_for(n % 10 == 0 ? 100ms : 10ms);
        co_return n;
    };
    const auto with = [&](output_order order, std::size_t capacity) {
        virtual_time time;
        weir::stage_options o = in_order(2, capacity);
        o.output_order = order;
        auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(work, o) | weir::sink()).start(time);
        ints all = take_all(run);
        std::ranges::sort(all);
        CHECK(all == up_to(100));
        CHECK(flows::add_up(run.stats()));
        return run.stats();
    };
    const auto as_done = with(output_order::completion, 64);
    const auto wide = with(output_order::input, 64);
    CHECK(wide.elapsed == as_done.elapsed);
    CHECK(wide.stages.at(1).times().wait_turn == 0ms);
    CHECK(wide.stages.at(1).times().wait_put == 0ms);
    CHECK(wide.channels.at(1).num_put == 100);
    // With one place a slot that is early waits for each item before.
    const auto narrow = with(output_order::input, 1);
    CHECK(narrow.elapsed > wide.elapsed);
    CHECK(narrow.stages.at(1).times().wait_turn > 0ms);
}

TEST_CASE("early results count for the capacity of their queue") {
    // Item 0 never ends: two slots fill the places behind it, and wait.
    virtual_time time;
    int begun = 0;
    const auto work = [&](int n) -> task<int> {
        ++begun;
        if (n == 0) co_await weir::sleep_for(1h);
        co_return n;
    };
    auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(work, in_order(3, 8)) | weir::sink())
                   .start(time);
    time.run_until(weir::time_point(1s));
    CHECK(begun == 3 + 7);
    const auto stats = run.stats();
    CHECK(stats.channels.at(1).size == 0);
    CHECK(stats.channels.at(1).num_put == 0);
    CHECK(stats.stages.at(1).times().wait_turn == 2s);
    CHECK(take_all(run) == up_to(100));
}

TEST_CASE("the bytes of early results count for the limit of their queue") {
    virtual_time time;
    int begun = 0;
    const auto work = [&](int n) -> task<std::string> {
        ++begun;
        if (n == 0) co_await weir::sleep_for(1h);
        co_return std::string(10, 'x');
    };
    weir::stage_options o = in_order(2, 64);
    o.max_bytes = 45;
    auto run = (weir::source(std::views::iota(0, 50)) | weir::pipe(work, o) |
                weir::pipe([](std::string s) { return s.size(); }, {.name = "next"}) | weir::sink())
                   .start(time);
    time.run_until(weir::time_point(1s));
    CHECK(begun == 1 + 4 + 1);
    CHECK(run.stats().channels.at(1).bytes == 40);
    CHECK(take_all(run).size() == 50);
    CHECK(run.stats().channels.at(1).bytes == 0);
}

TEST_CASE("of early results behind one that fails none comes, and they are destroyed") {
    items::ledger book(100);
    {
        virtual_time time;
        const auto made = [&book, left = 30]() mutable -> std::optional<items::counted> {
            if (left-- == 0) return std::nullopt;
            return items::counted(book);
        };
        const auto work = [](items::counted c) -> task<items::counted> {
            co_await weir::sleep_for(c.number() == 5 ? 100ms : 1ms);
            if (c.number() == 5) throw std::runtime_error("five");
            co_return c;
        };
        auto run = (weir::source(made) | weir::pipe(work, in_order(3, 16)) | weir::sink()).start(time);
        std::size_t taken = 0;
        try {
            while (run.get()) ++taken;
            FAIL("no failure");
        } catch (const weir::pipeline_failure& failure) {
            CHECK(failure.item() == 5);
        }
        CHECK(taken == 5);
        CHECK(run.stats().stages.at(1).num_tasks > 15);  // slots worked on meanwhile
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("a success by which too many have failed is the last one in the order, too") {
    // Half of the first 99 fail; 99 is slow. The success of 100 is the hundredth end: 101 and on never come.
    const auto work = [](int n) -> task<int> {
        co_await weir::sleep_for(n == 99 ? 50ms : 1ms);
        if (n < 99 && n % 2 == 1) throw std::runtime_error("tolerated");
        co_return n;
    };
    for (const std::size_t capacity : {1U, 2U, 16U}) {
        virtual_time time;
        weir::stage_options o = in_order(2, capacity);
        o.max_failures = weir::rate(0.3);
        auto run = (weir::source(std::views::iota(0, 200)) | weir::pipe(work, o) | weir::sink()).start(time);
        const auto end = take_until_failure(run);
        ints expected;
        for (int n = 0; n < 99; n += 2) expected.push_back(n);
        expected.push_back(99);
        expected.push_back(100);
        CHECK(end.failed != nullptr);
        CHECK(end.taken == expected);
    }
}

TEST_CASE("marks of epochs keep their places between early results") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const auto work = [seed](int n) -> task<std::optional<int>> {
            const auto drawn = (static_cast<std::uint64_t>(n) * 2'654'435'761U + seed) >> 7U;
            co_await weir::sleep_for(weir::duration(static_cast<weir::duration::rep>(drawn % 20)));
            if (drawn % 3 == 0) co_return std::nullopt;
            co_return n;
        };
        const auto make = [](std::uint64_t epoch) {
            ints all;
            for (int i = 0; i < 10; ++i) all.push_back(static_cast<int>(epoch) * 10 + i);
            return all;
        };
        const auto taken = [&](weir::stage_options o) {
            virtual_time time(seed);
            auto run = (weir::source(weir::epochs(make, 4)) | weir::pipe(work, std::move(o)) |
                        weir::pipe([](int n) { return n; }, in_order(2, 3)) | weir::sink(1))
                           .start(time);
            std::vector<ints> epochs;
            for (auto& epoch : run.epochs()) {
                epochs.emplace_back();
                for (const int n : epoch) epochs.back().push_back(n);
            }
            return epochs;
        };
        if (taken(in_order(seed % 4 + 2, seed % 9 + 1)) != taken({})) FAIL("differs with seed " << seed);
    }
}

TEST_CASE("a followed item waits for its turn in its slot") {
    virtual_time time;
    const auto work = [](int n) -> task<int> {
        co_await weir::sleep_for(n == 0 ? 100ms : 10ms);
        co_return n;
    };
    const auto trace = std::make_shared<weir::trace_report>("/dev/null", weir::trace_options{.every = 1});
    auto run = (weir::source(std::views::iota(0, 3)) | weir::pipe(work, in_order(3, 64)) | weir::sink())
                   .start(time, {.reports = {trace}});
    CHECK(take_all(run) == up_to(3));
    CHECK(run.stats().stages.at(1).times().wait_turn == 180ms);
}
