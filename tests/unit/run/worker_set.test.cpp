// Slots that come and go while a run goes on; and runs that are paused.
#include <weir/run/worker_set.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"
#include "support/slow_world.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/branch.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using items::contains;
using items::message_of;
using items::sorted;
using items::take_all;
using weir::duration;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using weir::detail::item_quota;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

auto after(duration d) {
    return [d](int n) -> task<int> {
        co_await weir::sleep_for(d);
        co_return n;
    };
}

ints up_to(int n) {
    ints all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

// Every instant of every slot that there ever was is in one state.
void check_sums(const weir::pipeline_stats& s) {
    for (const auto& stage : s.stages) {
        for (const auto& slot : stage.per_slot) CHECK(slot.total() == stage.elapsed);
        CHECK(stage.busy == stage.times().busy());
    }
}

// How many items come within each of these times, from a stage of 10 ms an item.
template <class Change>
std::vector<std::size_t> counts(virtual_time& time, std::size_t slots, std::vector<time_point> until,
                                Change change) {
    auto run = (weir::source(std::views::iota(0)) |
                weir::pipe(after(10ms), {.name = "work", .concurrency = slots}) | weir::sink(1000))
                   .start(time);
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < until.size(); ++i) {
        time.run_until(until[i]);
        all.push_back(static_cast<std::size_t>(run.stats().channels.at(1).num_put));
        check_sums(run.stats());
        change(run, i);
    }
    return all;
}

}  // namespace

TEST_CASE("more slots begin at once, and those that are too many end what they have in hand") {
    virtual_time time;
    // 1 slot until 105 ms, 4 until 205, 2 until 305, 3 until 405.
    const std::vector<std::size_t> next = {4, 2, 3, 3};
    const auto all =
        counts(time, 1, {time_point(105ms), time_point(205ms), time_point(305ms), time_point(405ms)},
               [&](auto& run, std::size_t i) { run.set_concurrency("work", next[i]); });
    // 10; then the one of 110 to 200, and 3 more slots from 105 on: 9 each, at 115 to 195. The items under
    // way in slots that are taken out are given at 205; two go on: 210 to 300 and 215 to 295. The third
    // from 305.
    CHECK(all == std::vector<std::size_t>{10, 10 + 10 + 3 * 9, 47 + 3 + 10 + 9, 69 + 10 + 10 + 9});
}

TEST_CASE("slots that are out of service are off, and the states of all sum to the time that passed") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0)) |
                weir::pipe(after(10ms), {.name = "work", .concurrency = 2}) | weir::sink(1000))
                   .start(time);
    time.run_until(time_point(15ms));
    run.set_concurrency("work", 3);
    CHECK(run.stats().stages.at(1).concurrency == 3);
    CHECK(run.stats().stages.at(1).per_slot.size() == 3);
    CHECK(run.stats().stages.at(1).per_slot.at(2).off == 15ms);
    check_sums(run.stats());
    time.run_until(time_point(55ms));
    run.set_concurrency("work", 1);
    time.run_until(time_point(100ms));
    const auto stage = run.stats().stages.at(1);
    CHECK(stage.concurrency == 1);
    REQUIRE(stage.per_slot.size() == 3);
    CHECK(stage.per_slot.at(0).off == 0ms);
    CHECK(stage.per_slot.at(1).off == 40ms);
    CHECK(stage.per_slot.at(2).off == 15ms + 45ms);
    CHECK(stage.per_slot.at(1).await == 60ms);
    CHECK(stage.per_slot.at(2).await == 40ms);
    check_sums(run.stats());
    run.set_concurrency("work", 2);
    time.run_until(time_point(105ms));
    CHECK(run.stats().stages.at(1).per_slot.at(1).off == 40ms);
    CHECK(run.stats().stages.at(1).per_slot.at(2).off == 65ms);
}

TEST_CASE("a slot that was added is ready to run until it does") {
    slow_world world;
    weir::run<int>* all = nullptr;
    const auto work = [&](int n) {
        if (n == 0) {
            all->set_concurrency("work", 2);
            world.pass(7ms);
        }
        return n;
    };
    auto run = (weir::source(std::views::iota(0, 3)) | weir::pipe(work, {.name = "work"}) | weir::sink())
                   .start(world);
    all = &run;
    CHECK(sorted(take_all(run)) == up_to(3));
    const auto stage = run.stats().stages.at(1);
    REQUIRE(stage.per_slot.size() == 2);
    CHECK(stage.per_slot.at(0).run == 7ms);
    CHECK(stage.per_slot.at(1).runnable == 7ms);
    CHECK(stage.per_slot.at(1).off == 0ms);
    check_sums(run.stats());
}

TEST_CASE("a slot that waits for an item is taken out at once, and loses none") {
    virtual_time time;
    const auto every_10 = [n = 0]() mutable -> task<std::optional<int>> {
        co_await weir::sleep_for(10ms);
        if (n == 12) co_return std::nullopt;
        co_return n++;
    };
    auto run = (weir::source(every_10) | weir::pipe(after(1ms), {.name = "work", .concurrency = 4}) |
                weir::sink(100))
                   .start(time);
    time.run_until(time_point(5ms));
    run.set_concurrency("work", 1);
    time.run_until(time_point(6ms));
    auto stage = run.stats().stages.at(1);
    CHECK(stage.times().off == 3ms);
    CHECK(stage.times().wait_get == 6ms + 3 * 5ms);
    // Up and down without any time between.
    for (std::size_t n = 1; n < 40; ++n) run.set_concurrency("work", n % 5 + 1);
    run.set_concurrency("work", 2);
    CHECK(take_all(run) == up_to(12));
    check_sums(run.stats());
    CHECK(run.stats().stages.at(1).times().wait_get == run.stats().channels.at(0).get_wait);
}

TEST_CASE(
    "each slot that waits for an item is found, wherever it is in the line, and no other one is taken out") {
    for (int first = 0; first < 7; ++first) {
        virtual_time time;
        const auto source = [n = 0]() mutable -> task<std::optional<int>> {
            if (n >= 7) co_await weir::sleep_for(100ms);
            if (n == 10) co_return std::nullopt;
            co_return n++;
        };
        // The slots join the line in another order than that of their numbers.
        const auto last_of = [first](int n) -> task<int> {
            co_await weir::sleep_for((n * 3 + first) % 7 * 1ms);
            co_return n;
        };
        auto run =
            (weir::source(source) | weir::pipe(last_of, {.name = "work", .concurrency = 7}) | weir::sink(100))
                .start(time);
        time.run_until(time_point(50ms));
        for (std::size_t n = 7; --n > 0;) {
            run.set_concurrency("work", n);
            time.run_until(time.now() + 1ms);
            const auto slots = run.stats().stages.at(1).per_slot;
            for (std::size_t k = 0; k < 7; ++k) CHECK((slots[k].off > duration(0)) == (k >= n));
        }
        CHECK(sorted(take_all(run)) == up_to(10));
        check_sums(run.stats());
    }
}

TEST_CASE("the number of slots can be changed at any instant, and each item passes once") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        virtual_time time(seed);
        std::mt19937_64 random(seed);
        const bool ordered = seed % 2 == 0;
        int at_work = 0;
        int most = 0;
        const auto work = [&](int n) -> task<int> {
            most = std::max(most, ++at_work);
            co_await weir::sleep_for(duration(n * 7919 % 50));
            --at_work;
            if (n % 9 == 5) throw std::runtime_error("tolerated");
            co_return n;
        };
        weir::stage_options o;
        o.name = "work";
        o.concurrency = random() % 4 + 1;
        o.capacity = random() % 3 + 1;
        o.max_failures = weir::unlimited;
        if (ordered) o.output_order = weir::output_order::input;
        auto run = (weir::source(std::views::iota(0, 200)) | weir::pipe(work, o) |
                    weir::pipe([](int n) { return n; }, {.name = "other"}) | weir::sink())
                       .start(time);
        ints all;
        std::size_t slots = o.concurrency;
        std::size_t most_slots = slots;
        while (true) {
            const auto got = run.get(duration(random() % 40));
            if (got) all.push_back(*got);
            if (got.status() == weir::channel_status::closed) break;
            if (random() % 3 == 0) {
                slots = random() % 6 + 1;
                most_slots = std::max(most_slots, slots);
                run.set_concurrency("work", slots);
                if (random() % 2 == 0) run.set_concurrency("other", random() % 2 + 1);
                run.set_capacity("work", random() % 5 + 1);
            }
            const auto s = run.stats();
            for (const auto& stage : s.stages) {
                for (const auto& slot : stage.per_slot) {
                    if (slot.total() != s.elapsed) FAIL("the sums are wrong with seed " << seed);
                }
            }
            const auto& stage = s.stages.at(1);
            const bool may_have_ended = stage.num_tasks == 200;
            if (!may_have_ended && stage.concurrency != slots) FAIL("concurrency with seed " << seed);
            if (stage.times().wait_put != s.channels.at(1).put_wait ||
                stage.times().wait_get != s.channels.at(0).get_wait) {
                FAIL("the waits are not those of the queues with seed " << seed);
            }
        }
        ints expected;
        for (int n = 0; n < 200; ++n) {
            if (n % 9 != 5) expected.push_back(n);
        }
        // The stage behind it has at times two slots, but takes no time.
        if (sorted(all) != expected) FAIL("items were lost or doubled with seed " << seed);
        if (static_cast<std::size_t>(most) > most_slots) FAIL("too many at work with seed " << seed);
        CHECK(run.stats().stages.at(1).per_slot.size() == most_slots);
    }
}

TEST_CASE("two threads change the number of slots at the same time") {
    weir::thread_pool pool(2);
    auto run = (weir::source(std::views::iota(0, 2000)) |
                weir::pipe([](int n) { return n; }, {.name = "work"}) | weir::sink())
                   .start(pool);
    const auto change = [&run] {
        for (std::size_t n = 0; n < 200; ++n) run.set_concurrency("work", n % 5 + 1);
    };
    std::thread other(change);
    change();
    const ints all = take_all(run);
    other.join();
    CHECK(sorted(all) == up_to(2000));
}

TEST_CASE("the order of the input is kept while the number of slots changes") {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        virtual_time time(seed);
        std::mt19937_64 random(seed);
        const auto work = [](int n) -> task<int> {
            co_await weir::sleep_for(duration(n * 7919 % 50));
            co_return n;
        };
        auto run =
            (weir::source(std::views::iota(0, 200)) |
             weir::pipe(work, {.name = "work", .output_order = weir::output_order::input}) | weir::sink())
                .start(time);
        ints all;
        while (const auto n = run.get()) {
            all.push_back(*n);
            if (random() % 3 == 0) run.set_concurrency("work", random() % 6 + 1);
        }
        if (all != up_to(200)) FAIL("out of order with seed " << seed);
    }
}

TEST_CASE("epochs stay apart while the number of slots changes") {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        virtual_time time(seed);
        std::mt19937_64 random(seed);
        const auto work = [](int n) -> task<int> {
            co_await weir::sleep_for(duration(n * 7919 % 50));
            co_return n;
        };
        auto run = (weir::source(weir::epochs(
                        [](std::uint64_t e) {
                            const int first = static_cast<int>(e) * 100;
                            return std::views::iota(first, first + 10);
                        },
                        20)) |
                    weir::pipe(work, {.name = "work"}) | weir::sink())
                       .start(time);
        int epochs = 0;
        for (auto& epoch : run.epochs()) {
            ints all;
            for (const int n : epoch) {
                all.push_back(n - epochs * 100);
                if (random() % 2 == 0) run.set_concurrency("work", random() % 6 + 1);
            }
            if (sorted(all) != up_to(10)) FAIL("epoch " << epochs << " with seed " << seed);
            ++epochs;
        }
        CHECK(epochs == 20);
    }
}

TEST_CASE("a lap's times sum to its length for slots that came in it, too") {
    virtual_time time;
    std::vector<weir::pipeline_stats> laps;
    auto run =
        (weir::source(std::views::iota(0)) | weir::pipe(after(10ms), {.name = "work"}) | weir::sink(1000))
            .start(time,
                   {.lap = 100ms, .on_lap = [&](const weir::pipeline_stats& lap) { laps.push_back(lap); }});
    time.run_until(time_point(130ms));
    run.set_concurrency("work", 3);
    time.run_until(time_point(250ms));
    run.set_concurrency("work", 1);
    time.run_until(time_point(401ms));
    REQUIRE(laps.size() == 4);
    for (const auto& lap : laps) check_sums(lap);
    CHECK(laps.at(0).stages.at(1).per_slot.size() == 1);
    const auto& second = laps.at(1).stages.at(1);
    REQUIRE(second.per_slot.size() == 3);
    CHECK(second.times().off == 60ms);
    CHECK(second.times().total() == 300ms);
    CHECK(laps.at(3).stages.at(1).times().off == 200ms);
}

TEST_CASE("a stage that has ended takes no more slots, and nothing happens") {
    virtual_time time;
    auto run = (weir::source({1, 2, 3}) | weir::pipe([](int n) { return n; }, {.name = "quick"}) |
                weir::pipe(after(10ms), {.name = "slow"}) | weir::sink())
                   .start(time);
    CHECK(run.get() == 1);
    CHECK(run.get() == 2);
    run.set_concurrency("quick", 4);
    run.set_concurrency("quick", 1);
    run.set_concurrency("quick", 6);
    check_sums(run.stats());
    CHECK(run.stats().stages.at(1).concurrency == 1);
    CHECK(run.stats().stages.at(1).per_slot.size() == 1);
    CHECK(take_all(run) == ints{3});
    run.set_concurrency("slow", 4);
    CHECK(run.stats().stages.at(2).num_tasks == 3);
    run.stop();
    run.set_concurrency("slow", 7);
    run.set_concurrency("quick", 7);
}

TEST_CASE("slots that came too late are not taken for those that can never go on") {
    virtual_time time;
    weir::channel<int> never(1, time, "never");
    {
        auto run = (weir::source({1, 2, 3}) | weir::pipe([](int n) { return n; }, {.name = "quick"}) |
                    weir::pipe(
                        [&never](int n) -> task<int> {
                            while (const auto m = co_await never.get()) n += *m;
                            co_return n;
                        },
                        {.concurrency = 3}) |
                    weir::sink())
                       .start(time);
        time.run_until(time_point(1ms));
        run.set_concurrency("quick", 6);
        CHECK_THROWS_AS(run.get(), weir::deadlock_error);
    }
    time.run();
}

TEST_CASE("what can't be changed is refused with what is wrong, and nothing is") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 10)) | weir::pipe(after(1ms), {.name = "a"}) |
                weir::pipe(after(1ms), {.name = "twin"}) | weir::pipe(after(1ms), {.name = "twin"}) |
                weir::aggregate(2) | weir::disaggregate() | weir::sink())
                   .start(time);
    CHECK(run.stages() ==
          std::vector<std::string>{"src", "a", "twin", "twin", "aggregate#4", "disaggregate#5", "sink"});
    const auto refusal = [&](const char* name, std::size_t slots) {
        return message_of([&] { run.set_concurrency(name, slots); });
    };
    CHECK(refusal("a", 0) == "weir: stage 'a' has no slot to work in then; give it 1 or more");
    CHECK(refusal("b", 2) == "weir: no stage of this run is named 'b'; run.stages() lists them");
    CHECK(refusal("twin", 2) ==
          "weir: more than one stage of this run is named 'twin'; run.stages() lists them");
    for (const char* name : {"src", "aggregate#4", "disaggregate#5", "sink"}) {
        CHECK(refusal(name, 2) == "weir: stage '" + std::string(name) +
                                      "' works on one item after the other; its concurrency is 1");
        CHECK(refusal(name, 1).empty());
    }
    CHECK(message_of([&] { run.set_capacity("a", 0); }) ==
          "weir: stage 'a' would have a queue of capacity 0, which never takes an item; give it 1 or more");
    CHECK(message_of([&] { run.set_capacity("none", 1); }) ==
          "weir: no queue of this run is named 'none'; a queue has the name of the stage before it, or of "
          "the branch that begins with it");
    CHECK(take_all(run) == up_to(10));
}

TEST_CASE("a run without statistics can be changed all the same") {
    virtual_time time;
    int at_work = 0;
    int most = 0;
    const auto work = [&](int n) -> task<int> {
        most = std::max(most, ++at_work);
        co_await weir::sleep_for(10ms);
        --at_work;
        co_return n;
    };
    auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(work, {.name = "work"}) | weir::sink(2))
                   .start<weir::unmeasured>(time);
    CHECK(run.stages() == std::vector<std::string>{"src", "work", "sink"});
    CHECK(run.get() == 0);
    CHECK(most == 1);
    run.set_concurrency("work", 5);
    CHECK(run.get() == 1);
    CHECK(run.get() == 2);
    CHECK(most == 5);
    run.set_concurrency("work", 2);
    run.set_capacity("work", 7);
    run.set_capacity("sink", 1);
    run.set_concurrency("sink", 1);
    CHECK(message_of([&] { run.set_concurrency("sink", 2); }) ==
          "weir: stage 'sink' works on one item after the other; its concurrency is 1");
    CHECK(take_all(run).size() == 97);
    CHECK(run.stats().stages.at(1).concurrency == 2);
    CHECK(most == 5);
}

TEST_CASE("a run can be changed from inside: by a stage's function, on_failure and on_lap") {
    virtual_time time;
    std::optional<weir::run<int>> run;
    const auto work = [&](int n) -> task<int> {
        if (n == 5) run->set_concurrency("work", 4);
        if (n == 30) run->set_capacity("work", 7);
        co_await weir::sleep_for(10ms);
        if (n == 20) throw std::runtime_error("tolerated");
        co_return n;
    };
    weir::run_options o;
    o.max_failures = weir::unlimited;
    o.on_failure = [&](const weir::failure&) { run->set_concurrency("work", 2); };
    o.lap = 200ms;
    o.on_lap = [&](const weir::pipeline_stats& lap) {
        check_sums(lap);
        run->set_concurrency("work", 1);
    };
    run.emplace((weir::source(std::views::iota(0, 60)) | weir::pipe(work, {.name = "work"}) | weir::sink())
                    .start(time, std::move(o)));
    ints all = take_all(*run);
    CHECK(all.size() == 59);
    CHECK(run->stats().stages.at(1).per_slot.size() == 4);
    CHECK(run->stats().stages.at(1).concurrency == 1);
    CHECK(run->stats().channels.at(1).capacity == 7);
    check_sums(run->stats());
}

TEST_CASE("a change of a queue's capacity shows in how far the run gets ahead") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0), {.name = "numbers", .capacity = 1}) |
                weir::pipe([](int n) { return n; }, {.name = "same", .capacity = 1}) | weir::sink(1))
                   .start(time);
    time.run_until(time_point(1ms));
    // In the three queues, and in the hands of the three stages.
    CHECK(run.stats().channels.at(0).num_put == 5);
    CHECK(run.stats().stages.at(0).num_tasks == 6);
    run.set_capacity("same", 10);
    run.set_capacity("numbers", 5);
    run.set_capacity("sink", 3);
    time.run_until(time_point(2ms));
    CHECK(run.stats().stages.at(0).num_tasks == 3 + 18);
    CHECK(run.stats().channels.at(1).size == 10);
    CHECK(run.stats().channels.at(1).capacity == 10);
    run.set_capacity("same", 2);
    for (int n = 0; n < 50; ++n) CHECK(run.get() == n);
    time.run_until(time_point(3ms));
    CHECK(run.stats().channels.at(1).size == 2);
}

TEST_CASE("each queue's capacity is changed by its name, with a sink that has a slot or none of its own") {
    const auto pipeline = weir::source({1}, {.name = "numbers", .capacity = 1}) |
                          weir::pipe([](int n) { return n; }, {.name = "same", .capacity = 2}) |
                          weir::sink(3);
    const auto check = [](auto run) {
        const auto capacities = [&run] {
            std::vector<std::size_t> all;
            for (const auto& queue : run.stats().channels) all.push_back(queue.capacity);
            return all;
        };
        using numbers = std::vector<std::size_t>;
        CHECK(capacities() == numbers{1, 2, 3});
        run.set_capacity("numbers", 5);
        CHECK(capacities() == numbers{5, 2, 3});
        run.set_capacity("same", 6);
        CHECK(capacities() == numbers{5, 6, 3});
        run.set_capacity("sink", 7);
        CHECK(capacities() == numbers{5, 6, 7});
    };
    virtual_time time;
    check(pipeline.start(time));
    check(pipeline.start<weir::unmeasured>(time));
}

TEST_CASE("while a run is paused no invocation begins; those under way end, and can be taken") {
    virtual_time time;
    int begun = 0;
    const auto work = [&](int n) -> task<int> {
        ++begun;
        co_await weir::sleep_for(10ms);
        co_return n;
    };
    auto run = (weir::source(std::views::iota(0, 40)) | weir::pipe(work, {.name = "work", .concurrency = 3}) |
                weir::pipe(
                    [&](int n) {
                        ++begun;
                        return n;
                    },
                    {.name = "same"}) |
                weir::sink(40))
                   .start(time);
    time.run_until(time_point(35ms));
    run.pause();
    CHECK(begun == 12 + 9);
    time.run_until(time_point(1s));
    CHECK(begun == 12 + 9);  // three ended, and the stage behind has begun with none of them
    CHECK(run.stats().stages.at(1).num_tasks == 12);
    ints taken;
    while (const auto n = run.get(0ms)) taken.push_back(*n);
    CHECK(sorted(taken) == up_to(9));
    check_sums(run.stats());
    // Of the three slots one found room for what it had, and waits with the next item, or for one.
    const auto before = run.stats();
    time.run_until(time_point(2s));
    const auto paused = run.stats() - before;
    check_sums(paused);
    CHECK(paused.stages.at(1).busy == 0ms);
    CHECK(paused.stages.at(2).times().off == 1s);
    run.resume();
    for (const int n : take_all(run)) taken.push_back(n);
    CHECK(sorted(taken) == up_to(40));
    CHECK(begun == 80);
    check_sums(run.stats());
}

TEST_CASE("a pause that follows a resumption at once lets nothing begin") {
    virtual_time time;
    int begun = 0;
    const auto work = [&](int n) -> task<int> {
        ++begun;
        co_await weir::sleep_for(10ms);
        co_return n;
    };
    auto run = (weir::source(std::views::iota(0, 40)) | weir::pipe(work, {.name = "work", .concurrency = 3}) |
                weir::pipe([&](int n) {
                    ++begun;
                    return n;
                }) |
                weir::aggregate(1) | weir::disaggregate() | weir::sink(40))
                   .start(time);
    time.run_until(time_point(35ms));
    run.pause();
    time.run_until(time_point(50ms));
    const int before = begun;
    const auto tasks = [&] {
        std::uint64_t sum = 0;
        for (const auto& stage : run.stats().stages) sum += stage.num_tasks;
        return sum;
    };
    const auto tasks_before = tasks();
    for (int i = 0; i < 10; ++i) {
        run.resume();
        run.pause();
        time.run_until(time.now() + 20ms);
    }
    CHECK(begun == before);
    CHECK(tasks() == tasks_before);
    run.pause();  // again: nothing
    run.resume();
    CHECK(sorted(take_all(run)) == up_to(40));
}

TEST_CASE("nothing begins in a paused run that is stopped") {
    for (const bool measured : {true, false}) {
        virtual_time time;
        int begun = 0;
        int pulled = 0;
        const auto source = [&pulled]() -> std::optional<int> { return ++pulled; };
        const auto work = [&](int n) -> task<int> {
            ++begun;
            co_await weir::sleep_for(10ms);
            co_return n;
        };
        const auto pipeline = weir::source(source) | weir::pipe(work, {.concurrency = 3}) |
                              weir::pipe(
                                  [&](int n) {
                                      ++begun;
                                      return n;
                                  },
                                  {.capacity = 1}) |
                              weir::aggregate(2, {.capacity = 1}) | weir::sink(1);
        int before = 0;
        int pulled_before = 0;
        const auto pause_and_leave = [&](auto run) {
            time.run_until(time_point(15ms));
            run.pause();
            time.run_until(time_point(50ms));
            before = begun;
            pulled_before = pulled;
        };
        if (measured) {
            pause_and_leave(pipeline.start(time));
        } else {
            pause_and_leave(pipeline.start<weir::unmeasured>(time));
        }
        CHECK(begun == before);
        CHECK(pulled == pulled_before);
    }
}

TEST_CASE("in a paused run no kind of stage goes on with another item, however much room there is") {
    const auto pass = weir::pipe([](auto item) { return item; });
    const auto first = [](const auto&) { return 0; };
    const auto numbers = weir::source(std::views::iota(0));
    const auto pairs = weir::zip(weir::merge(numbers, numbers), numbers) |
                       weir::pipe([](std::tuple<int, int> two) { return std::get<0>(two); });
    virtual_time time;
    auto run =
        (pairs | weir::tee(pass) | weir::route(first, weir::branch("a", pass), weir::branch("b")) |
         weir::aggregate(2) |
         weir::split(first, {.order = weir::split_order::branches},
                     weir::branch("c", weir::pipe([](ints part) { return part; })), weir::branch("d")) |
         weir::sink(1))
            .start(time);
    time.run_until(time_point(1s));  // all is full
    run.pause();
    const auto before = run.stats();
    std::size_t taken = 0;
    while (run.get(1ms)) ++taken;
    const auto after = run.stats();
    // Of the queue before the sink, the sink and its queue, and what the stage before had in hand.
    CHECK(taken == 2 + 1 + 1 + 1);
    REQUIRE(after.stages.size() == 17);
    for (std::size_t i = 0; i < after.stages.size(); ++i) {
        INFO(after.stages[i].name);
        CHECK(after.stages[i].num_tasks == before.stages[i].num_tasks);
        if (after.stages[i].kind == "sink") continue;
        // What each had in hand has found room; nobody has taken more than one after that.
        for (const std::size_t k : after.stages[i].inputs) {
            CHECK(after.channels[k].num_get <= before.channels[k].num_get + 2);
        }
    }
    check_sums(after);
    run.resume();
    for (int i = 0; i < 100; ++i) CHECK(run.get().has_value());
}

TEST_CASE("in a paused run a batch that has waited long enough waits on") {
    virtual_time time;
    const auto slowly = [n = 0]() mutable -> task<std::optional<int>> {
        co_await weir::sleep_for(n == 0 ? 1ms : 1h);
        co_return n++;
    };
    auto run = (weir::source(slowly) | weir::aggregate(8, {.max_delay = 10ms}) | weir::sink()).start(time);
    time.run_until(time_point(5ms));
    run.pause();
    CHECK_FALSE(run.get(1s).has_value());
    run.resume();
    CHECK(run.get(1ms).value() == ints{0});
}

TEST_CASE("who waits for an item of a paused run on virtual time is told of the pause") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 40), {.name = "numbers"}) |
                weir::pipe(after(10ms), {.name = "work", .concurrency = 2}) | weir::sink())
                   .start(time);
    CHECK(run.get() == 0);
    run.pause();
    ints taken = {0};
    const std::string report = message_of([&] {
        while (const auto n = run.get()) taken.push_back(*n);
    });
    CHECK(contains(report, "weir: deadlock"));
    CHECK(contains(report, "somebody waits:\n  2 slots of stage 'work' (worker_set.test.cpp:"));
    CHECK(contains(report, ") wait for the run to be resumed\n"));
    CHECK(contains(report, "stage 'numbers', slot 0 (worker_set.test.cpp:"));
    run.resume();
    for (const int n : take_all(run)) taken.push_back(n);
    CHECK(sorted(taken) == up_to(40));
}

TEST_CASE("a run can be paused before anything has begun, and after all has ended") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 3)) | weir::pipe(after(10ms)) | weir::sink()).start(time);
    run.pause();
    time.run_until(time_point(1s));
    CHECK(run.stats().stages.at(0).num_tasks == 0);
    CHECK(run.stats().stages.at(0).times().off == 1s);
    run.resume();
    CHECK(take_all(run) == up_to(3));
    run.pause();
    CHECK_FALSE(run.get().has_value());
    run.stop();
    run.resume();
    run.pause();
}

TEST_CASE("after a pause each slot begins at most the one invocation for which it had looked before") {
    // Keeps who has looked, and has not begun, until it may.
    struct door final : weir::hook {
        void before(const weir::invocation& call) override {
            if (call.stage() != "work") return;
            ++arrived;
            while (!open) std::this_thread::yield();
        }
        std::atomic<int> arrived{0};
        std::atomic<bool> open{false};
    };
    const auto at = std::make_shared<door>();
    weir::thread_pool pool(3);
    std::atomic<int> begun{0};
    const auto work = [&begun](int n) {
        ++begun;
        return n;
    };
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(work, {.name = "work", .concurrency = 2}) |
                weir::sink(8))
                   .start(pool, {.hooks = {at}});
    while (at->arrived < 2) std::this_thread::yield();
    run.pause();
    CHECK(begun == 0);
    at->open = true;
    ints taken = {*run.get(), *run.get()};
    CHECK((sorted(std::move(taken)) == up_to(2)));
    run.stop();
    CHECK(at->arrived == 2);
    CHECK(begun == 2);
}

TEST_CASE("on a pool a run is paused and resumed again and again, and loses nothing") {
    weir::thread_pool pool(2);
    auto run = (weir::source(std::views::iota(0, 3000)) |
                weir::pipe([](int n) { return n; }, {.name = "work", .concurrency = 2}) | weir::aggregate(3) |
                weir::disaggregate() | weir::sink())
                   .start(pool);
    ints all;
    int i = 0;
    while (true) {
        const auto got = run.get(i % 10 == 9 ? 20us : 0us);
        if (got) all.push_back(*got);
        if (got.status() == weir::channel_status::closed) break;
        if (++i % 3 == 0) {
            run.pause();
        } else {
            run.resume();
        }
    }
    CHECK((sorted(all) == up_to(3000)));
}

namespace {

struct gate : weir::detail::stage_gate {
    using stage_gate::must_wait;
    using stage_gate::stage_gate;
};

}  // namespace

TEST_CASE("a slot has to wait in a pause, and for its quota while the run is profiled") {
    weir::virtual_time time;
    weir::detail::run_core<weir::measured> run(time, {}, nullptr);
    gate g(run, time);
    CHECK_FALSE(g.must_wait(0, true));
    run.pause(true);
    CHECK(g.must_wait(0, true));
    run.pause(false);
    g.add_quota();
    CHECK_FALSE(g.must_wait(0, true));
    run.set_profiled(true);
    CHECK(g.must_wait(0, true));
    g.quota()->admit(1);
    run.pause(true);
    CHECK(g.must_wait(0, true));  // which takes nothing from the item_quota
    run.pause(false);
    CHECK_FALSE(g.must_wait(0, true));
    CHECK(g.must_wait(0, true));
    run.set_profiled(false);
    CHECK_FALSE(g.must_wait(0, true));
}

TEST_CASE("a quota admits no item before admit, and then exactly so many") {
    const weir::virtual_time time;
    item_quota t;
    CHECK_FALSE(t.try_admit(time));
    t.admit(2);
    CHECK(t.try_admit(time));
    CHECK(t.try_admit(time));
    CHECK_FALSE(t.try_admit(time));
    t.admit(1);
    t.admit(0);
    CHECK_FALSE(t.try_admit(time));
}

TEST_CASE("a quota admits ends of epochs while it admits items, and doesn't count them") {
    const weir::virtual_time time;
    item_quota t;
    CHECK_FALSE(t.try_admit(time, false));
    t.admit(1);
    CHECK(t.try_admit(time, false));
    CHECK(t.try_admit(time));
    CHECK_FALSE(t.try_admit(time, false));
}

TEST_CASE("an open quota stays open") {
    const weir::virtual_time time;
    item_quota t;
    t.open();
    t.admit(0);
    CHECK(t.try_admit(time));
}

TEST_CASE("a quota measures the pace of the items that were admitted last, without ends of epochs") {
    weir::virtual_time time;
    item_quota t;
    const auto pass = [&](int items) {
        for (int i = 0; i < items; ++i) {
            CHECK(t.try_admit(time));
            CHECK(t.try_admit(time, false));
            time.run_until(time.now() + 1ms);
        }
    };
    t.admit(100);
    pass(50);
    CHECK(t.meter().begun() == 50);
    CHECK(t.meter().pace()->rate() == Catch::Approx(1000));
    t.admit(0);
    CHECK(t.meter().begun() == 50);
    t.admit(20, 4);
    pass(8);
    CHECK(t.meter().begun() == 8);
    CHECK_FALSE(t.meter().pace().has_value());
}
