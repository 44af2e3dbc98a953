#include <weir/stages/sink.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/run/invocation.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::message_of;
using weir::duration;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

TEST_CASE("a sink without room is refused with what to do") {
    CHECK_THROWS_AS(weir::sink(0), std::invalid_argument);
    CHECK(items::message_of([] { static_cast<void>(weir::sink(0)); }) ==
          "weir: sink(0) could never take an item; give it a capacity of 1 or more");
    CHECK(items::message_of([] { static_cast<void>(weir::sink(static_cast<std::size_t>(-1))); }) ==
          "weir: the capacity of a sink was negative, or too large; give it 1 or more");
    virtual_time time;
    CHECK(items::message_of([&] {
              static_cast<void>((weir::source({1}) | weir::sink(SIZE_MAX / 2)).start(time));
          }) == "weir: a channel's capacity was negative, or too large; give it 1 or more");
}

TEST_CASE("a sink lets the pipeline run ahead of the consumer by its capacity, and by one in hand") {
    for (const std::size_t capacity : {1U, 2U, 3U, 50U}) {
        CAPTURE(capacity);
        virtual_time time;
        auto run = (weir::source(std::views::iota(0)) | weir::sink(capacity)).start(time);
        CHECK_THROWS_AS(time.run(), weir::deadlock_error);
        const auto stats = run.stats();
        REQUIRE(stats.channels.size() == 2);
        CHECK(stats.channels.at(1).size == capacity);
        CHECK(stats.channels.at(1).capacity == capacity);
        // The source's queue takes two; one each waits in the hands of source and sink.
        CHECK(stats.channels.at(0).num_put == capacity + 1 + 2);
        CHECK(stats.stages.at(0).num_tasks == capacity + 1 + 2 + 1);
    }
}

TEST_CASE("a consumer that pauses holds up what is before it, and misses nothing") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 20)) | weir::sink(1)).start(time);
    for (std::uint64_t n = 0; n < 20; ++n) {
        CHECK(run.get() == static_cast<int>(n));
        time.run_until(time.now() + 1h);
        // Ahead of the consumer: the sink's queue and hand, and two in the source's queue.
        CHECK(run.stats().channels.at(0).num_put == std::min<std::uint64_t>(n + 1 + 1 + 1 + 2, 20));
    }
    CHECK_FALSE(run.get().has_value());
    CHECK(time.now() == weir::time_point(20h));
}

TEST_CASE(
    "a sink holds 32 small values if nothing is said, and three items of which it isn't known what they "
    "hold") {
    struct large {
        std::array<char, 65> bytes;
    };
    struct small {
        std::array<char, 64> bytes;
    };
    const auto room_for = [](auto item) {
        return (weir::source({item}) | weir::sink()).options("sink").capacity;
    };
    static int number = 0;
    CHECK(room_for(1) == 32);
    CHECK(room_for(small{}) == 32);
    CHECK(room_for(large{}) == 3);
    CHECK(room_for(&number) == 3);
    CHECK(room_for(std::string("1")) == 3);
}

TEST_CASE("what a sink has room for is known once a source stands before it, unless it is given") {
    auto part = weir::pipe([](int n) { return std::to_string(n); }) | weir::sink();
    CHECK(part.options("sink").capacity == 0);
    CHECK((weir::source({1}) | part).options("sink").capacity == 3);
    part.options("sink").capacity = 7;
    CHECK((weir::source({1}) | part).options("sink").capacity == 7);
    CHECK((weir::source({1}) | weir::sink(3)).options("sink").capacity == 3);
}

TEST_CASE("a sink is a stage of its own") {
    virtual_time time;
    auto run = (weir::source({1}) | weir::sink()).start(time);
    const auto stats = run.stats();
    CHECK(stats.channels.at(1).capacity == 32);
    CHECK(stats.channels.at(1).name == "sink");
    CHECK(stats.stages.at(1).name == "sink");
    CHECK(stats.stages.at(1).kind == "sink");
    CHECK(stats.stages.at(1).per_slot.size() == 1);
}

TEST_CASE("a sink passes on what only moves, in order") {
    virtual_time time;
    std::vector<std::unique_ptr<int>> from;
    for (int i = 0; i < 5; ++i) from.push_back(std::make_unique<int>(i));
    auto pipeline = weir::source(std::move(from)) | weir::sink(1);
    int next = 0;
    auto run = std::move(pipeline).start(time);
    for (const auto& p : run) CHECK(*p == next++);
    CHECK(next == 5);
}

namespace {

auto numbers(int n) { return weir::source(std::views::iota(0, n)); }

// One every 10 ms.
task<int> paced(int n) {
    co_await weir::sleep_for(10ms);
    co_return n;
}
task<> slow(int) { co_await weir::sleep_for(25ms); }

}  // namespace

TEST_CASE("a for_each calls its function with each item, in order, and the run ends by itself") {
    virtual_time time;
    ints seen;
    auto run = (numbers(5) | weir::for_each([&seen](int n) { seen.push_back(n); })).start(time);
    time.run();
    CHECK(seen == ints{0, 1, 2, 3, 4});
    CHECK(run.ended());
    CHECK(run.outcome() == weir::run_outcome::finished);
    CHECK(run.wait().items == 5);
    CHECK(run.wait().items == 5);
}

TEST_CASE("two slots of a for_each are measured to the nanosecond") {
    virtual_time time;
    auto run = (numbers(4) | weir::pipe(paced, {.name = "paced"}) |
                weir::for_each(slow, {.name = "slow", .concurrency = 2}))
                   .start(time);
    const weir::run_result all = run.wait();
    CHECK(all.items == 4);
    CHECK(time.now() == time_point(70ms));
    // Items come at 10, 20, 30 and 40 ms. Those of one slot begin at 10 and 35, of the other at 20 and 45.
    REQUIRE(all.stats.stages.size() == 3);
    REQUIRE(all.stats.channels.size() == 2);
    CHECK(all.stats.channels.back().name == "paced");
    const weir::stage_stats& last = all.stats.stages.back();
    CHECK(last.name == "slow");
    CHECK(last.kind == "for_each");
    CHECK(last.inputs == std::vector<std::size_t>{1});
    CHECK(last.outputs.empty());
    CHECK(last.num_tasks == 4);
    CHECK(last.num_failures == 0);
    CHECK(last.task_time == 100ms);
    REQUIRE(last.per_slot.size() == 2);
    CHECK(last.per_slot[0].await == 50ms);
    CHECK(last.per_slot[0].wait_get == 10ms);
    CHECK(last.per_slot[0].off == 10ms);
    CHECK(last.per_slot[1].await == 50ms);
    CHECK(last.per_slot[1].wait_get == 20ms);
    CHECK(last.per_slot[1].off == 0ms);
    for (const weir::slot_times& each : last.per_slot) {
        CHECK(each.wait_put == 0ms);
        CHECK(each.wait_turn == 0ms);
    }
    CHECK(all.stats.elapsed == 70ms);
    CHECK(flows::add_up(all.stats));
    time.run_until(time_point(10s));
    CHECK(run.stats().elapsed == all.stats.elapsed);
}

TEST_CASE("what the function of a for_each returns is dropped, also what it has to be awaited for") {
    virtual_time time;
    const auto run = [&time](auto f) { return (numbers(3) | weir::for_each(f)).start(time).wait().items; };
    CHECK(run([](int n) { return n; }) == 3);
    CHECK(run([](int) -> task<std::string> { co_return "dropped"; }) == 3);
    CHECK(run([](int) -> task<> { co_return; }) == 3);
    CHECK(run([](int) { return weir::sleep_for(1ms); }) == 3);
}

TEST_CASE("a for_each takes the invocation, and items that only move") {
    virtual_time time;
    std::set<std::uint64_t> numbers_seen;
    auto run = (numbers(3) | weir::pipe([](int n) { return std::make_unique<int>(n); }) |
                weir::for_each([&](std::unique_ptr<int> p, const weir::invocation& call) {
                    CHECK(*p == static_cast<int>(call.item()));
                    CHECK(call.stage() == "for_each");
                    numbers_seen.insert(call.item());
                })).start(time);
    CHECK(run.wait().items == 3);
    CHECK(numbers_seen == std::set<std::uint64_t>{0, 1, 2});
}

TEST_CASE("an item that fails is tolerated, told of, and not counted") {
    virtual_time time;
    std::vector<std::uint64_t> failed;
    const auto picky = [](int n) {
        if (n % 2 == 1) throw std::runtime_error("odd");
    };
    auto run = (numbers(6) | weir::for_each(picky, {.max_failures = 3}))
                   .start(time, {.on_failure = [&](const weir::failure& f) { failed.push_back(f.item); }});
    const weir::run_result all = run.wait();
    CHECK(all.items == 3);
    CHECK(all.stats.stages.back().num_tasks == 6);
    CHECK(all.stats.stages.back().num_failures == 3);
    CHECK(failed == std::vector<std::uint64_t>{1, 3, 5});
}

TEST_CASE("a failure too many stops the run, and who waits is thrown it once") {
    virtual_time time;
    int calls = 0;
    auto run = (numbers(100) | weir::for_each(
                                   [&calls](int n) {
                                       ++calls;
                                       if (n == 2) throw std::runtime_error("two");
                                   },
                                   {.name = "write"}))
                   .start(time);
    CHECK(message_of([&run] { run.wait(); }).find("'write'") != std::string::npos);
    CHECK(calls == 3);
    CHECK(run.outcome() == weir::run_outcome::failed);
    CHECK(run.wait().items == 2);
}

TEST_CASE("a failure before a for_each lets it act on what was finished") {
    virtual_time time;
    ints seen;
    auto run = (numbers(100) | weir::pipe([](int n) {
                    if (n == 3) throw std::runtime_error("three");
                    return n;
                }) |
                weir::for_each([&seen](int n) {
                    seen.push_back(n);
                })).start(time);
    CHECK_THROWS_AS(run.wait(), weir::pipeline_failure);
    CHECK(seen == ints{0, 1, 2});
}

TEST_CASE("an invocation of a for_each has a time limit") {
    virtual_time time;
    const auto nap = [](int n) -> task<> { co_await weir::sleep_for(n * 10ms); };
    auto run = (numbers(5) | weir::for_each(nap, {.max_failures = 5, .time_limit = 25ms})).start(time);
    const weir::run_result all = run.wait();
    CHECK(all.items == 3);
    CHECK(all.stats.stages.back().num_failures == 2);
}

TEST_CASE("epochs pass through a for_each without their ends") {
    virtual_time time;
    ints seen;
    auto run = (weir::source(weir::epochs([] { return std::views::iota(0, 3); }, 2)) |
                weir::for_each([&seen](int n) {
                    seen.push_back(n);
                })).start(time);
    CHECK(run.wait().items == 6);
    CHECK(seen == ints{0, 1, 2, 0, 1, 2});
    CHECK(run.stats().stages.back().num_tasks == 6);
}

TEST_CASE("what a for_each has acted on, or failed with, is taken for a checkpoint, and no more") {
    virtual_time time;
    const auto write = [](weir::draw d) -> task<> {
        co_await weir::sleep_for(10ms);
        if (d.position == 1) throw std::runtime_error("one");
    };
    auto run = (weir::source(weir::draws(weir::sampler({.size = 10, .shuffle = false}), 1)) |
                weir::for_each(write, {.max_failures = 1}))
                   .start(time);
    for (const std::uint64_t done : {0U, 1U, 2U, 3U}) {
        time.run_until(time_point(done * 10ms + 5ms));
        CHECK(run.checkpoint().watermark() == done);
    }
    run.stop();
    CHECK(run.checkpoint().watermark() == 3);
    CHECK(run.wait().items == 2);
}

TEST_CASE("options that speak of a queue or an order behind a for_each are refused") {
    virtual_time time;
    const auto refused = [&time](weir::stage_options options) {
        return message_of([&] {
            static_cast<void>((numbers(1) | weir::for_each([](int) {}, std::move(options))).start(time));
        });
    };
    const std::string queue =
        "weir: stage 'for_each' gives nothing on, and has no queue behind it: leave .capacity "
        "and .max_bytes out";
    CHECK(refused({.capacity = 7}) == queue);
    CHECK(refused({.max_bytes = 7}) == queue);
    CHECK(refused({.output_order = weir::output_order::input}) ==
          "weir: stage 'for_each' gives nothing on, and so in no order: leave .output_order out");
    CHECK(refused({.concurrency = 0}).find("has no slot to work in") != std::string::npos);
    auto run = (numbers(1) | weir::for_each([](int) {})).start(time);
    CHECK(message_of([&run] { run.set_capacity("for_each", 3); }) ==
          "weir: stage 'for_each' is the last one, and has no queue behind it");
    run.set_capacity("src", 3);
    CHECK(run.stages() == std::vector<std::string>{"src", "for_each"});
    CHECK(run.wait().stats.channels.front().capacity == 3);
}

TEST_CASE("a run of a for_each is paused, and goes on") {
    virtual_time time;
    ints seen;
    auto run =
        (numbers(4) | weir::pipe(paced) | weir::for_each([&seen](int n) { seen.push_back(n); })).start(time);
    time.run_until(time_point(25ms));
    run.pause();
    time.run_until(time_point(1s));
    CHECK(seen == ints{0, 1});
    run.resume();
    CHECK(run.wait().items == 4);
}

TEST_CASE("laps, later stages first and a limit in bytes go with a for_each") {
    virtual_time time;
    std::vector<std::uint64_t> per_lap;
    const auto count = [&per_lap](const weir::pipeline_stats& lap) {
        per_lap.push_back(lap.stages.back().num_tasks);
    };
    auto run = (numbers(4) | weir::pipe(paced) | weir::for_each([](int) {
                })).start(time, {.max_bytes = 8, .later_stages_first = true, .lap = 20ms, .on_lap = count});
    CHECK(run.wait().items == 4);
    CHECK(per_lap == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("a take before a for_each ends the run, and an endless source with it") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0)) | weir::take(7) | weir::for_each([](int) {})).start(time);
    CHECK(run.wait().items == 7);
    time.run();
    CHECK(run.ended());
}

TEST_CASE("a for_each without statistics counts its items all the same") {
    virtual_time time;
    auto run = (numbers(9) | weir::for_each(slow, {.concurrency = 3})).start<weir::unmeasured>(time);
    CHECK(run.wait().items == 9);
}

TEST_CASE("a for_each behind batches is a pipeline, and a description") {
    std::atomic<int> sum{0};
    const auto write = weir::aggregate(4) |
                       weir::for_each([&sum](const ints& batch) { sum += static_cast<int>(batch.size()); },
                                      {.name = "write", .concurrency = 2});
    const auto pipeline = numbers(1000) | write;
    weir::thread_pool pool(2);
    auto first = pipeline.start(pool);
    auto second = pipeline.start(pool);
    CHECK(first.wait().items == 250);
    CHECK(second.wait().items == 250);
    CHECK(sum == 2000);
}
