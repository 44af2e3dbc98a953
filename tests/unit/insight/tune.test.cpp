#include <weir/insight/tune.hpp>

#include <weir/weir.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using weir::change_kind;
using weir::tune_budget;
using weir::tuner;
using weir::tuning_outcome;
using weir::tuning_step;

namespace {

weir::duration ms(double n) { return weir::duration(static_cast<std::int64_t>(n * 1e6)); }

// A stage's function that awaits so long for item i.
template <class Time>
auto awaiting(Time time) {
    return [time](int i) -> weir::task<int> {
        co_await weir::sleep_for(ms(time(i)));
        co_return i;
    };
}
auto constant(double n) {
    return awaiting([n](int) { return n; });
}
auto exponential(double mean, unsigned seed) {
    return awaiting([mean, seed](int i) {
        std::mt19937 random(seed + 31U * static_cast<unsigned>(i));
        random.discard(5);
        return std::exponential_distribution<double>(1 / mean)(random);
    });
}
auto numbers() { return weir::source(std::views::iota(0)); }

// Takes items for so long. Each one takes `consumer` ms of the consumer.
template <class Run>
void take_for(weir::virtual_time& time, Run& run, weir::duration lap, double consumer = 0) {
    const auto end = time.now() + lap;
    while (time.now() < end && run.get()) time.run_until(time.now() + ms(consumer));
}

struct tuned {
    std::vector<tuning_step> log;
    weir::pipeline_stats stats;
    double rate = 0;  // in the laps after the tuner's
    bool is_within = true;

    std::size_t slots(const std::string& name) const {
        for (const auto& each : stats.stages) {
            if (each.name == name) return each.concurrency;
        }
        return 0;
    }
    std::size_t changes() const {
        std::size_t n = 0;
        for (const tuning_step& each : log) n += each.changes.size();
        return n;
    }
};

std::size_t slots_of(const weir::pipeline_stats& stats) {
    std::size_t n = 0;
    for (const auto& each : stats.stages) n += each.kind == "sink" ? 0 : each.concurrency;
    return n;
}
std::size_t room_of(const weir::pipeline_stats& stats) {
    std::size_t n = 0;
    for (const auto& each : stats.channels) n += each.capacity;
    return n;
}

template <class Pipeline>
tuned after_tuning(const Pipeline& p, const tune_budget& budget, double consumer = 0,
                   weir::duration lap = 2s) {
    tuned all;
    weir::virtual_time time;
    auto run = p.start(time);
    tuner t(budget);
    for (int i = 0; i < 20; ++i) {
        take_for(time, run, lap, consumer);
        t.step(run);
        const weir::pipeline_stats now = run.stats();
        if (i == 0) continue;
        all.is_within = all.is_within && (budget.max_slots == 0 || slots_of(now) <= budget.max_slots) &&
                        (budget.max_items == 0 || slots_of(now) + room_of(now) <= budget.max_items);
    }
    all.log = t.log();
    all.stats = run.stats();
    take_for(time, run, 10 * lap, consumer);
    all.rate = (run.stats() - all.stats).rate();
    return all;
}

// The greatest rate of the pipeline with fixed numbers of slots of the stages "a", "b" and "c", and much room.
template <class Pipeline>
double best_rate(Pipeline p, std::size_t slots, double consumer = 0, std::size_t room = 64) {
    double most = 0;
    for (std::size_t a = 1; a + 2 <= slots; ++a) {
        for (std::size_t b = 1; a + b + 1 <= slots; ++b) {
            p.options("a").concurrency = a;
            p.options("b").concurrency = b;
            p.options("c").concurrency = slots - a - b;
            for (const char* const name : {"a", "b", "c"}) p.options(name).capacity = room;
            weir::virtual_time time;
            auto run = p.start(time);
            take_for(time, run, 1s, consumer);
            const auto before = run.stats();
            take_for(time, run, 10s, consumer);
            most = std::max(most, (run.stats() - before).rate());
        }
    }
    return most;
}

}  // namespace

TEST_CASE("from one slot everywhere a tuner finds 95 % of the best numbers of slots within 20 laps") {
    const auto p = numbers() | weir::pipe(constant(10), {.name = "a"}) |
                   weir::pipe(constant(45), {.name = "b"}) | weir::pipe(constant(20), {.name = "c"}) |
                   weir::sink();
    const tuned result = after_tuning(p, {.max_slots = 11});
    CHECK(result.rate > 0.95 * best_rate(p, 10));
    CHECK(result.is_within);
}

TEST_CASE("where times vary the tuner finds slots and room") {
    const auto p = numbers() | weir::pipe(exponential(10, 1), {.name = "a"}) |
                   weir::pipe(exponential(20, 2), {.name = "b"}) |
                   weir::pipe(exponential(10, 3), {.name = "c"}) | weir::sink();
    const tuned result = after_tuning(p, {.max_slots = 9});
    CHECK(result.rate > 0.95 * best_rate(p, 8));
    CHECK(result.is_within);
}

TEST_CASE("a tuner finds the room of ordered results, within a budget of items") {
    const auto times = awaiting([](int i) { return i % 10 == 0 ? 55.0 : 5.0; });
    const auto p = numbers() | weir::pipe(constant(2), {.name = "a"}) |
                   weir::pipe(times, {.name = "b", .output_order = weir::output_order::input}) |
                   weir::pipe(constant(3), {.name = "c"}) | weir::sink();
    const tuned result = after_tuning(p, {.max_slots = 9, .max_items = 80});
    CHECK(result.rate > 0.95 * best_rate(p, 8));
    CHECK(result.is_within);
}

TEST_CASE("a tuner counts the invocations for a batch") {
    const auto train = [](std::vector<int> batch) -> weir::task<int> {
        co_await weir::sleep_for(100ms);
        co_return batch[0];
    };
    const auto p = numbers() | weir::pipe(constant(5), {.name = "a"}) | weir::aggregate(8) |
                   weir::pipe(train, {.name = "b"}) | weir::pipe(constant(1), {.name = "c"}) | weir::sink();
    const tuned result = after_tuning(p, {.max_slots = 12});
    CHECK(result.rate > 0.95 * best_rate(p, 10));
    CHECK(result.is_within);
}

TEST_CASE("if the consumer limits the rate, a tuner frees slots and room that nobody needs") {
    const auto p = numbers() | weir::pipe(constant(50), {.name = "a", .concurrency = 16, .capacity = 64}) |
                   weir::pipe(constant(10), {.name = "b", .concurrency = 8}) | weir::sink();
    const tuned result = after_tuning(p, {}, 20);
    CHECK(result.rate == Approx(50).epsilon(0.01));
    CHECK(result.slots("a") == 3);
    CHECK(result.slots("b") == 1);
    CHECK(result.stats.channels[1].capacity <= 4);
}

TEST_CASE("a run whose model is much slower than the run is left alone") {
    weir::virtual_time clock;
    const auto walk = [](int n, weir::feeder<int>& more) -> weir::task<int> {
        if (n >= 0) {
            for (int i = 0; i < 20; ++i) more.add(-1);
        }
        co_await weir::sleep_for(1ms);
        co_return n;
    };
    const auto roots = [n = 0]() mutable -> weir::task<std::optional<int>> {
        co_await weir::sleep_for(5ms);
        co_return ++n < 400 ? std::optional(n) : std::nullopt;
    };
    auto run =
        (weir::source(roots) | weir::traverse(walk, {.name = "walk", .concurrency = 8}) | weir::sink(64))
            .start(clock);
    tuner t({.max_slots = 16});
    std::string log;
    for (int lap = 0; lap < 3; ++lap) {
        for (int i = 0; i < 2'000 && run.get(); ++i) {
        }
        const tuning_step step = t.step(run);
        log += step.sentence + "\n";
        CHECK(step.changes.empty());
    }
    CHECK_THAT(log, ContainsSubstring("left alone: its times don't explain its rate"));
}

TEST_CASE("a balanced run is left alone") {
    const auto p = numbers() | weir::pipe(constant(10), {.name = "a"}) |
                   weir::pipe(constant(20), {.name = "b", .concurrency = 2}) | weir::sink();
    const tuned result = after_tuning(p, {.max_slots = 12}, 10);
    CHECK(result.changes() == 0);
    CHECK_THAT(result.log[0].sentence, ContainsSubstring("left alone: no change is predicted to bring 5 %"));
}

TEST_CASE("a tuner follows a workload that changes in the middle") {
    const auto first = awaiting([](int i) { return i < 3'000 ? 40.0 : 5.0; });
    const auto second = awaiting([](int i) { return i < 3'000 ? 5.0 : 40.0; });
    const auto p =
        numbers() | weir::pipe(first, {.name = "a"}) | weir::pipe(second, {.name = "b"}) | weir::sink();
    weir::virtual_time time;
    auto run = p.start(time);
    tuner t({.max_slots = 10});
    std::size_t anew = 0;
    for (int i = 0; i < 30; ++i) {
        take_for(time, run, 1s);
        if (t.step(run).outcome == tuning_outcome::outdated) anew = t.log().size();
    }
    CHECK(t.log()[12].rate == Approx(200).epsilon(0.02));
    CHECK(anew > 12);
    CHECK(t.log().back().rate == Approx(200).epsilon(0.02));
    CHECK_THAT(t.log()[anew - 1].sentence, ContainsSubstring("have changed: begins anew"));
}

TEST_CASE(
    "a change that brings less than predicted is taken back within two laps, and not tried again at once") {
    // All invocations share a device: however many slots there are, it does one after the other.
    weir::virtual_time time;
    weir::time_point free{};
    const auto shared = [&](int i) -> weir::task<int> {
        free = std::max(free, time.now()) + 10ms;
        co_await weir::sleep_until(free);
        co_return i;
    };
    const auto p = numbers() | weir::pipe(shared, {.name = "a"}) | weir::sink();
    auto run = p.start(time);
    tuner t({.max_slots = 9});
    std::vector<std::size_t> slots;
    std::size_t tries = 0;
    for (int i = 0; i < 20; ++i) {
        take_for(time, run, 1s);
        const tuning_step& step = t.step(run);
        if (!step.changes.empty() && step.outcome == tuning_outcome::none) {
            ++tries;
            REQUIRE(step.changes[0].kind == change_kind::concurrency);
            CHECK(step.predicted > 2 * step.rate);
        }
        slots.push_back(run.stats().stages[1].concurrency);
        const std::size_t n = slots.size();
        CHECK((n < 4 || slots[n - 1] == 1 || slots[n - 2] == 1 || slots[n - 3] == 1));
    }
    CHECK(tries >= 1);
    CHECK(tries <= 4);
    const auto back = std::ranges::find(t.log(), tuning_outcome::taken_back, &tuning_step::outcome);
    REQUIRE(back != t.log().end());
    CHECK_THAT(back->sentence, ContainsSubstring("taken back; changes a: 1 slot instead of"));
}

TEST_CASE(
    "slots move to another stage only after they have ended in the first: at no instant are there too many") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        std::size_t now = 0, most = 0;
        const auto counted = [&](double time) {
            return [&now, &most, time](int i) -> weir::task<int> {
                most = std::max(most, ++now);
                co_await weir::sleep_for(ms(time));
                --now;
                co_return i;
            };
        };
        const auto p = numbers() | weir::pipe(counted(5), {.name = "a", .concurrency = 7}) |
                       weir::pipe(counted(150), {.name = "b"}) | weir::sink();
        weir::virtual_time time(seed);
        auto run = p.start(time);
        tuner t({.max_slots = 9, .max_items = 60});
        for (int i = 0; i < 10; ++i) {
            take_for(time, run, 2s);
            t.step(run);
            const auto stats = run.stats();
            CHECK(slots_of(stats) <= 9);
            CHECK(slots_of(stats) + room_of(stats) <= 60);
        }
        CHECK(most <= 8);
        CHECK(run.stats().stages[2].concurrency == 7);
    }
}

TEST_CASE("a run above the budget is brought within it, at once where that is possible") {
    const auto p = numbers() | weir::pipe(constant(10), {.name = "a", .concurrency = 20, .capacity = 100}) |
                   weir::pipe(constant(10), {.name = "b", .concurrency = 20}) | weir::sink();
    weir::virtual_time time;
    auto run = p.start(time);
    tuner t({.max_bytes = 4'000, .item_bytes = 100});
    take_for(time, run, 1s);
    CHECK_THAT(t.step(run).sentence, ContainsSubstring("exceeds the budget; changes "));
    CHECK(slots_of(run.stats()) + room_of(run.stats()) <= 40);
    auto small = p.start(time);
    take_for(time, small, 1s);
    tuner none({.max_slots = 2});
    CHECK_THROWS_WITH(none.step(small), ContainsSubstring("the budget of tune is too small"));
}

TEST_CASE("a stage that refuses more slots is left as it is, and the sentence says so") {
    weir::virtual_time time;
    auto run = (numbers() | weir::pipe(constant(1), {.name = "a"}) | weir::sink()).start(time);
    struct stubborn {
        decltype(run)& all;
        weir::pipeline_stats stats() const { return all.stats(); }
        void set_concurrency(std::string_view, std::size_t) { throw std::invalid_argument("weir: no"); }
        void set_capacity(std::string_view name, std::size_t n) { all.set_capacity(name, n); }
    } refusing{run};
    tuner t;
    take_for(time, run, 1s, 0);
    const tuning_step& first = t.step(refusing);
    CHECK_THAT(first.sentence, ContainsSubstring("refused: weir: no"));
    CHECK(first.changes.empty());
    for (int i = 0; i < 5; ++i) {
        take_for(time, run, 1s, 0);
        CHECK(t.step(refusing).changes.empty());
    }
}

TEST_CASE("a lap with few items goes on, and a run that can't be predicted is left alone with a reason") {
    weir::virtual_time time;
    const auto p = numbers() | weir::pipe(constant(200), {.name = "a"}) | weir::sink();
    auto run = p.start(time);
    tuner t;
    take_for(time, run, 1s);
    CHECK_THAT(t.step(run).sentence, ContainsSubstring("too few items to judge: the lap goes on"));
    take_for(time, run, 2s);
    CHECK(t.step(run).changes.size() >= 1);
    auto summed = p.start<weir::summed>(time);
    tuner other;
    take_for(time, summed, 3s);
    CHECK_THAT(other.step(summed).sentence,
               ContainsSubstring("left alone: weir: this run can't be predicted"));
    CHECK(other.log().size() == 1);
}

TEST_CASE("a tuner of a pool keeps its workers within the budget") {
    weir::thread_pool pool(3);
    const auto p =
        weir::source(std::views::iota(0, 2'000)) | weir::pipe([](int i) { return i + 1; }) | weir::sink();
    auto run = p.start(pool);
    tuner t({.max_threads = 1});
    for (int i = 0; i < 500; ++i) static_cast<void>(run.get());
    CHECK_THAT(t.step(run, pool).sentence, ContainsSubstring("1 thread instead of 3"));
    CHECK(pool.workers() == 1);
}

TEST_CASE("a tuner may be called at the end of each lap of the run, and of a run that ends with a for_each") {
    weir::virtual_time time;
    tuner t({.max_slots = 10});
    std::function<void()> tune_lap;
    const auto store = [](int) -> weir::task<> { co_await weir::sleep_for(20ms); };
    auto run = (weir::source(std::views::iota(0, 3'000)) | weir::pipe(constant(10), {.name = "a"}) |
                weir::for_each(store, {.name = "store", .concurrency = 2}))
                   .start(time, {.lap = 1s, .on_lap = [&](const weir::pipeline_stats&) { tune_lap(); }});
    tune_lap = [&] { t.step(run); };
    CHECK(run.wait().items == 3'000);
    CHECK(run.stats().stages[1].concurrency == 3);
    CHECK(run.stats().stages[2].concurrency == 6);
    CHECK(t.log().back().rate == Approx(300).epsilon(0.02));
}

TEST_CASE("a tuner leaves alone the stages that it is told to, and a last stage that has one slot") {
    weir::virtual_time time;
    tuner t({}, {.fixed = {"b"}});
    std::function<void()> tune_lap;
    const auto store = [](int) -> weir::task<> { co_await weir::sleep_for(20ms); };
    auto run = (weir::source(std::views::iota(0, 1'000)) | weir::pipe(constant(60), {.name = "a"}) |
                weir::pipe(constant(20), {.name = "b"}) | weir::for_each(store, {.name = "store"}))
                   .start(time, {.lap = 1s, .on_lap = [&](const weir::pipeline_stats&) { tune_lap(); }});
    tune_lap = [&] { t.step(run); };
    CHECK(run.wait().items == 1'000);
    const weir::pipeline_stats all = run.stats();
    CHECK(all.stages[1].concurrency == 3);
    CHECK(all.stages[2].concurrency == 1);
    CHECK(all.channels[2].capacity == 2);
    CHECK(all.stages[3].concurrency == 1);
}

TEST_CASE("tune calls a function for each lap, and returns the log") {
    weir::virtual_time time;
    auto run = (numbers() | weir::pipe(constant(10), {.name = "a"}) | weir::sink()).start(time);
    int laps = 0;
    const auto log = weir::tune(run, {.max_slots = 5}, [&] {
        take_for(time, run, 1s);
        return ++laps <= 4;
    });
    REQUIRE(log.size() == 4);
    CHECK(log[0].lap == 1);
    CHECK(log[3].lap == 4);
    CHECK(log[3].rate == Approx(400).epsilon(0.02));
    CHECK(log[1].at == 2s);
}

TEST_CASE("a tuner refuses another run, earlier statistics, and a pool of no stage") {
    weir::virtual_time time;
    auto run = (numbers() | weir::pipe(constant(10), {.name = "a"}) | weir::sink()).start(time);
    auto other = (numbers() | weir::pipe(constant(10), {.name = "b"}) | weir::sink()).start(time);
    take_for(time, run, 1s);
    const weir::pipeline_stats before = run.stats();
    take_for(time, run, 1s);
    take_for(time, other, 9s);
    tuner all;
    static_cast<void>(all.step(run));
    CHECK_THROWS_WITH(all.step(other), ContainsSubstring("a tuner is of one run"));
    CHECK_THROWS_WITH(all.decide(before), ContainsSubstring("earlier"));
    CHECK(all.log().size() == 1);
    CHECK_THROWS_WITH(tuner({}, {.pool_stage = "c"}).step(run), ContainsSubstring("no stage is called 'c'"));
    CHECK_THROWS_WITH(tuner({}, {.fixed = {"d"}}).step(run), ContainsSubstring("no stage is called 'd'"));
}

TEST_CASE("a budget or options that make no sense are refused with a sentence") {
    CHECK_THROWS_WITH(tuner({.max_bytes = 9}), ContainsSubstring("tune_budget::item_bytes"));
    CHECK_THROWS_WITH(tuner({.max_slots = static_cast<std::size_t>(-1)}), ContainsSubstring("negative"));
    CHECK_THROWS_WITH(tuner({.max_bytes = 9, .item_bytes = static_cast<std::size_t>(-1)}),
                      ContainsSubstring("negative"));
    CHECK_THROWS_WITH(tuner({}, {.worthwhile = 0}), ContainsSubstring("tune_options::worthwhile"));
    CHECK_THROWS_WITH(tuner({}, {.worthwhile = std::numeric_limits<double>::quiet_NaN()}),
                      ContainsSubstring("tune_options::worthwhile"));
    CHECK_THROWS_WITH(tuner({}, {.fewest_items = 1}), ContainsSubstring("tune_options::fewest_items"));
    CHECK_THROWS_WITH(tuner({}, {.most_slots = 0}), ContainsSubstring("tune_options"));
    CHECK_THROWS_WITH(tuner({}, {.most_slots = 1'000'000}), ContainsSubstring("at most 100000 slots"));
    CHECK_THROWS_WITH(tuner({}, {.most_capacity = static_cast<std::size_t>(-1)}),
                      ContainsSubstring("negative"));
}
