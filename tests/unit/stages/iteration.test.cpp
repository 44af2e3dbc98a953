#include <weir/stages/iteration.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/report/trace_run.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

using items::contains;
using items::ledger;
using items::take_all;
using items::take_until_failure;
using weir::output_order;
using weir::task;
using weir::virtual_time;
using weir::detail::admission;
using weir::detail::place_without_epoch;
using weir::detail::turn;
using weir::detail::turn_rule;
using namespace std::chrono_literals;
using namespace weir::detail;
using ints = std::vector<int>;

TEST_CASE("a place without epochs is one of epoch 0, and no mark") {
    place_without_epoch mine;
    mine.number = 7;
    const turn t = mine;
    CHECK(t.number == 7);
    CHECK(t.epoch == 0);
    CHECK_FALSE(t.mark);
}

namespace {

// Options of a stage that keeps the order with so many slots.
weir::stage_options in_order(std::size_t slots, std::size_t capacity = 2) {
    weir::stage_options o;
    o.name = "work";
    o.concurrency = slots;
    o.output_order = output_order::input;
    o.capacity = capacity;
    return o;
}

// Item n takes times[n].
auto taking(std::vector<weir::duration> times) {
    return [times](int n) -> task<int> {
        co_await weir::sleep_for(times.at(static_cast<std::size_t>(n)));
        co_return n;
    };
}

std::vector<weir::duration> random_times(std::uint64_t seed, int n) {
    std::mt19937_64 random(seed);
    std::vector<weir::duration> times;
    for (int i = 0; i < n; ++i) times.emplace_back(random() % 50 * (random() % 4));
    return times;
}

ints up_to(int n) {
    ints all;
    for (int i = 0; i < n; ++i) all.push_back(i);
    return all;
}

}  // namespace

TEST_CASE("one by one, a turn comes when all before it have left") {
    turn_rule rule(true, 0);
    CHECK(rule.ask({0, 0, false}) == admission::go);
    CHECK(rule.ask({1, 0, false}) == admission::wait);
    rule.leave({0, 0, false});
    CHECK(rule.ask({1, 0, false}) == admission::go);
    CHECK(rule.ask({2, 0, false}) == admission::wait);
    CHECK(rule.ask({3, 0, false}) == admission::wait);
    rule.block({2, 0, false});
    CHECK(rule.ask({1, 0, false}) == admission::go);
    CHECK(rule.ask({2, 0, false}) == admission::wait);  // never asked: it is the one that blocks
    CHECK(rule.ask({3, 0, false}) == admission::refused);
}

TEST_CASE("else a turn comes with its epoch, and a mark's when all before it have left") {
    turn_rule rule(false, 7);
    CHECK(rule.ask({1, 7, false}) == admission::go);
    CHECK(rule.ask({2, 7, true}) == admission::wait);
    CHECK(rule.ask({3, 8, false}) == admission::wait);
    rule.leave({1, 7, false});
    CHECK(rule.ask({2, 7, true}) == admission::wait);
    rule.leave({0, 7, false});
    CHECK(rule.ask({2, 7, true}) == admission::go);
    CHECK(rule.ask({3, 8, false}) == admission::wait);
    rule.leave({2, 7, true});
    CHECK(rule.ask({3, 8, false}) == admission::go);
    CHECK(rule.ask({5, 8, true}) == admission::wait);
    CHECK(rule.ask({6, 9, false}) == admission::wait);
    rule.block({4, 8, false});
    CHECK(rule.ask({3, 8, false}) == admission::go);
    CHECK(rule.ask({5, 8, true}) == admission::refused);
    CHECK(rule.ask({6, 9, false}) == admission::refused);
}

TEST_CASE("in the order of the input the slowest first item comes first all the same") {
    std::vector<weir::duration> times;
    for (int i = 0; i < 10; ++i) times.push_back((10 - i) * 100ms);
    virtual_time time;
    auto run =
        (weir::source(std::views::iota(0, 10)) | weir::pipe(taking(times), in_order(10)) | weir::sink())
            .start(time);
    CHECK(take_all(run) == up_to(10));
    CHECK(time.now() == weir::time_point(1s));

    virtual_time other;
    auto as_done = (weir::source(std::views::iota(0, 10)) | weir::pipe(taking(times), {.concurrency = 10}) |
                    weir::sink())
                       .start(other);
    CHECK(take_all(as_done) == ints{9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
}

TEST_CASE("the order of the input is kept, whatever each item takes, and on any schedule") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const auto slots = static_cast<std::size_t>(seed % 7 + 1);
        virtual_time time(seed);
        auto run = (weir::source(std::views::iota(0, 40), {.capacity = seed % 3 + 1}) |
                    weir::pipe(taking(random_times(seed, 40)), in_order(slots, seed % 4 + 1)) |
                    weir::pipe([](int n) { return n; }, in_order(seed % 2 + 1)) | weir::sink())
                       .start(time);
        if (take_all(run) != up_to(40)) FAIL("out of order with seed " << seed);
    }
}

TEST_CASE("in the order of the input no more items are in flight than there are slots and free places") {
    for (const std::size_t slots : {1U, 2U, 3U, 4U, 8U}) {
        const std::size_t capacity = slots == 4 ? 5 : 1;
        virtual_time time;
        std::optional<weir::run<int>> run;
        std::uint64_t begun = 0;
        std::uint64_t most = 0;
        const auto times = random_times(slots, 60);
        const auto work = [&](int n) -> task<int> {
            ++begun;
            // What the stage took and did not give on, and what is in its queue.
            const auto queue = run->stats().channels.at(1);
            most = std::max(most, begun - queue.num_put + queue.size);
            co_await weir::sleep_for(times.at(static_cast<std::size_t>(n)) + 1ns);
            co_return n;
        };
        run.emplace((weir::source(std::views::iota(0, 60)) | weir::pipe(work, in_order(slots, capacity)) |
                     weir::sink(1))
                        .start(time));
        CHECK(take_all(*run) == up_to(60));
        CHECK(most <= slots + capacity);
        CHECK(most >= slots);
    }
}

TEST_CASE("an item that is dropped or fails leaves no gap, and the rest keep their order") {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        const auto times = random_times(seed, 50);
        const auto some = [times](int n) -> task<std::optional<int>> {
            co_await weir::sleep_for(times.at(static_cast<std::size_t>(n)));
            if (n % 5 == 4) throw std::runtime_error("tolerated");
            if (n % 2 == 0) co_return std::nullopt;
            co_return n;
        };
        virtual_time time(seed);
        auto run = (weir::source(std::views::iota(0, 50)) |
                    weir::pipe(some, in_order(seed % 5 + 1, seed % 8 + 1)) | weir::sink())
                       .start(time, {.max_failures = weir::unlimited});
        ints expected;
        for (int n = 1; n < 50; n += 2) {
            if (n % 5 != 4) expected.push_back(n);
        }
        if (take_all(run) != expected) FAIL("out of order with seed " << seed);
        const auto stage = run.stats().stages.at(1);
        CHECK(stage.num_tasks == 50);
        CHECK(stage.num_failures == 10);
    }
    // All of them.
    virtual_time time;
    CHECK(take_all((weir::source(std::views::iota(0, 20)) |
                    weir::pipe([](int) { return std::optional<int>(); }, in_order(4)) | weir::sink())
                       .start(time))
              .empty());
}

TEST_CASE("in the order of the input a failure delivers exactly what came before its item") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const int k = static_cast<int>(seed % 20);
        const auto times = random_times(seed, 40);
        const auto work = [times, k](int n) -> task<int> {
            co_await weir::sleep_for(times.at(static_cast<std::size_t>(n)));
            if (n == k) throw std::runtime_error("not this one");
            co_return n;
        };
        virtual_time time(seed);
        auto run = (weir::source(std::views::iota(0, 40)) |
                    weir::pipe(work, in_order(seed % 6 + 1, seed % 7 + 1)) | weir::sink(1))
                       .start(time);
        const auto end = take_until_failure(run);
        INFO("seed " << seed);
        REQUIRE(end.failed != nullptr);
        CHECK(end.failed->item() == static_cast<std::uint64_t>(k));
        CHECK(end.inside == "not this one");
        CHECK(end.taken == up_to(k));
    }
}

TEST_CASE("of several that fail, the first in the order of the input ends what is delivered") {
    // 3 fails at 1 ms, 2 at 20 ms, when 0 and 1 are still at work.
    const auto work = [](int n) -> task<int> {
        co_await weir::sleep_for(n == 3 ? 1ms : n == 2 ? 20ms : 50ms);
        if (n >= 2) throw std::runtime_error(std::to_string(n));
        co_return n;
    };
    virtual_time time;
    auto run =
        (weir::source(std::views::iota(0, 40)) | weir::pipe(work, in_order(4)) | weir::sink()).start(time);
    const auto end = take_until_failure(run);
    CHECK(end.taken == ints{0, 1});
    REQUIRE(end.failed != nullptr);
    CHECK(end.failed->item() == 3);
    REQUIRE(end.failed->failures().size() == 2);
    CHECK(end.failed->failures().at(1).item == 2);
}

TEST_CASE("with several slots and no order all that was in work when an item failed is delivered") {
    // Slots take 0, 1, 2, 3, and then as they are free; 5 fails when 6, 7 and 8 are in work.
    const std::vector<weir::duration> times = {40ms, 30ms, 20ms, 10ms, 60ms, 45ms, 50ms, 24ms, 30ms, 1ms};
    const auto work = [times](int n) -> task<int> {
        co_await weir::sleep_for(times.at(static_cast<std::size_t>(n)));
        if (n == 5) throw std::runtime_error("five");
        co_return n;
    };
    const auto with = [&](output_order order) {
        virtual_time time;
        auto run = (weir::source(std::views::iota(0, 10)) |
                    weir::pipe(work, {.concurrency = 4, .output_order = order}) | weir::sink())
                       .start(time);
        return take_until_failure(run);
    };
    // 4 from 10 to 70, 5 from 20 to 65, 6 from 30 to 80, 7 from 40 to 64, 8 from 64 to 94.
    const auto as_done = with(output_order::completion);
    CHECK(as_done.taken == ints{3, 2, 1, 0, 7, 4, 6, 8});
    REQUIRE(as_done.failed != nullptr);
    CHECK(as_done.failed->item() == 5);
    CHECK(with(output_order::input).taken == ints{0, 1, 2, 3, 4});
}

TEST_CASE("the time in which a finished item has no place behind those before it is the slot's wait_turn") {
    // Slot 0 has item 0 until 30; slot 1 is done with 1 at 10, which has a place, and with 2 at 15, which has
    // none until 30. Then 3 until 70.
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 4)) |
                weir::pipe(taking({30ms, 10ms, 5ms, 40ms}), in_order(2)) | weir::sink())
                   .start(time);
    CHECK(take_all(run) == up_to(4));
    const auto stats = run.stats();
    CHECK(stats.elapsed == 70ms);
    const auto times = stats.stages.at(1).times();
    CHECK(times.wait_turn == 15ms);
    CHECK(times.await == 85ms);
    CHECK(times.wait_put == 0ms);
    CHECK(times.total() == 140ms);
    CHECK(stats.stages.at(1).task_time == 85ms);
    CHECK(stats.stages.at(1).busy == 85ms);
    std::vector<weir::duration> each;
    for (const auto& slot : stats.stages.at(1).per_slot) each.push_back(slot.wait_turn);
    std::ranges::sort(each);
    CHECK(each == std::vector<weir::duration>{0ms, 15ms});
}

TEST_CASE("a wait for one's turn that is not over is in the statistics, and is split by a lap") {
    virtual_time time;
    std::vector<weir::duration> laps;
    auto run = (weir::source(std::views::iota(0, 3)) | weir::pipe(taking({100ms, 10ms, 0ms}), in_order(3)) |
                weir::sink())
                   .start(time, {.lap = 25ms, .on_lap = [&](const weir::pipeline_stats& lap) {
                                     laps.push_back(lap.stages.at(1).times().wait_turn);
                                     CHECK(lap.stages.at(1).times().total() == 75ms);
                                 }});
    time.run_until(weir::time_point(30ms));
    // Item 1 has a place; item 2 has none.
    CHECK(run.stats().stages.at(1).times().wait_turn == 30ms);
    CHECK(take_all(run) == up_to(3));
    CHECK(run.stats().stages.at(1).times().wait_turn == 100ms);
    CHECK(laps == std::vector<weir::duration>{25ms, 25ms, 25ms, 25ms});
}

TEST_CASE("a slow next stage holds back the slot whose turn it is; the others wait for theirs") {
    virtual_time time;
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(10ms);
        co_return n;
    };
    auto run = (weir::source(std::views::iota(0, 6)) | weir::pipe([](int n) { return n; }, in_order(3, 1)) |
                weir::pipe(slow) | weir::sink(6))
                   .start(time);
    CHECK(take_all(run) == up_to(6));
    const auto stats = run.stats();
    // 0 in work, 1 in the queue; 2 waits for room, 3 and 4 for their turn, until 10; then 3, 4 and 5,
    // and so on.
    const auto times = stats.stages.at(1).times();
    CHECK(times.wait_put == 40ms);
    CHECK(times.wait_put == stats.channels.at(1).put_wait);
    CHECK(times.wait_turn == 50ms);
}

TEST_CASE("who waits for a turn is destroyed with the run, at each step of its way") {
    for (int steps = 0; steps < 150; ++steps) {
        ledger book(100);
        {
            virtual_time time(static_cast<std::uint64_t>(steps));
            const auto made = [&book, left = 20]() mutable -> std::optional<items::counted> {
                if (left-- == 0) return std::nullopt;
                return items::counted(book);
            };
            const auto work = [](items::counted c) -> task<items::counted> {
                co_await weir::sleep_for((20 - static_cast<int>(c.number())) % 7 * 10ms);
                co_return c;
            };
            auto run = (weir::source(made) | weir::pipe(work, in_order(5, 1)) | weir::sink(1)).start(time);
            for (int i = 0; i < steps / 10; ++i) static_cast<void>(run.get());
            time.run_until(time.now() + steps % 10 * 7ms);
            if (steps % 3 == 0) run.stop();
        }
        if (book.alive() != 0 || book.died_twice() != 0) FAIL("items are lost at step " << steps);
    }
}

TEST_CASE("a consumer that leaves finds the items in order up to there") {
    virtual_time time(5);
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(taking(random_times(1, 400)), in_order(4)) |
                weir::sink())
                   .start(time);
    ints taken;
    for (const int n : run) {
        taken.push_back(n);
        if (n == 50) break;
    }
    CHECK(taken == up_to(51));
    run.stop();
    CHECK_FALSE(run.get().has_value());
}

TEST_CASE("a generator can't keep the order of the input, and is told so at the start") {
    const auto many = [](int n) -> weir::generator<int> { co_yield n; };
    virtual_time time;
    const auto start = [&](weir::stage_options o) {
        return items::message_of([&] {
            static_cast<void>(
                (weir::source({1, 2}) | weir::pipe(many, std::move(o)) | weir::sink()).start(time));
        });
    };
    CHECK(start(in_order(2)) ==
          "weir: stage 'work' gives many items for one, each as it comes: with several slots it can't keep "
          "the order of the input");
    CHECK(start({.concurrency = 2}).empty());
}

TEST_CASE("on a pool the order of the input is kept by many slots, with functions that wait and that don't") {
    weir::thread_pool pool(3);
    const auto waits = [](int n) -> task<std::optional<int>> {
        if (n % 5 == 0) co_await weir::yield();
        if (n % 7 == 0) co_return std::nullopt;
        co_return n;
    };
    const auto busy = [](int n) {
        for (int i = 0; i < n % 64; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
        if (n % 11 == 0) throw std::runtime_error("tolerated");
        return n;
    };
    const auto pipeline = weir::source(std::views::iota(0, 5000)) | weir::pipe(waits, in_order(4)) |
                          weir::pipe(busy, in_order(3, 1)) | weir::sink();
    const auto check = [](const ints& all) {
        ints expected;
        for (int n = 0; n < 5000; ++n) {
            if (n % 7 != 0 && n % 11 != 0) expected.push_back(n);
        }
        CHECK((all == expected));
    };
    auto run = pipeline.start(pool, {.max_failures = weir::unlimited});
    check(take_all(run));
    auto plain = pipeline.start<weir::unmeasured>(pool, {.max_failures = weir::unlimited});
    check(take_all(plain));
}

TEST_CASE("a held item that is followed is visited for an instant, another one is not") {
    weir::virtual_time time;
    const std::string name = "join";
    run_trace run({.every = 1, .most = 100, .after = 0, .until = INT64_MAX});
    slot me(name, 0, time);
    follow(me, &run, run.add_stage(name));
    run.reserve();
    weir::channel<int> queue(2, time);
    auto& inside = weir::detail::base_of(queue);
    item_tracer tracer(me, result_origin::all_held);
    tracer.hold(inside, 0, 0);  // the queue has no marks
    inside.add_to_trail(run, true);
    CHECK(inside.trace_marks()->set(4, 7));
    tracer.hold(inside, 3, 0);
    CHECK_FALSE(me.trail->has_kept());
    tracer.hold(inside, 4, 0);
    CHECK(me.trail->has_kept());
    CHECK(me.trail->gives(false, 0, 0, 0) == 7);
}
