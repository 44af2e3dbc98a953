#include <weir/report/profile.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"
#include "unit/report/german.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/branch.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/run/failure.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/sink_to.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <memory>
#include <optional>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::contains;
using items::message_of;
using weir::duration;
using weir::profile;
using weir::profile_bar;
using weir::profile_progress;
using weir::profile_result;
using weir::profile_trial;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

weir::task<int> in_20_ms(int n) {
    co_await weir::sleep_for(20ms);
    co_return n + 1;
}

weir::task<int> in_5_ms(int n) {
    co_await weir::sleep_for(5ms);
    co_return n;
}

auto numbers() { return weir::source(std::views::iota(0)); }

weir::generator<int> three() {
    for (int i = 0; i < 3; ++i) co_yield i;
}

}  // namespace

TEST_CASE("a profile gives the exact rate of each stage alone, at each concurrency") {
    virtual_time time;
    const auto pipeline = numbers() | weir::pipe(in_20_ms, {.name = "slow", .concurrency = 2}) |
                          weir::pipe(in_5_ms, {.name = "fast"}) | weir::sink();
    const auto p = profile(pipeline, time);
    CHECK(p.num_items == 1000);
    REQUIRE(p.stages.size() == 3);
    CHECK(p.stages[0].name == "src");
    CHECK(p.stages[0].kind == "source");
    CHECK(p.stages[1].name == "slow");
    CHECK(p.stages[1].kind == "pipe");
    CHECK(p.stages[2].name == "fast");
    const std::vector<std::size_t> concurrencies = {32, 16, 8, 4, 1};
    const std::vector<int> items = {352, 224, 160, 132, 108};  // of the first, 24 pass on untried
    for (const std::size_t stage : {1U, 2U}) {
        REQUIRE(p.stages[stage].trials.size() == concurrencies.size());
        const weir::duration each = stage == 1 ? 20ms : 5ms;
        for (std::size_t i = 0; i < concurrencies.size(); ++i) {
            const auto& trial = p.stages[stage].trials[i];
            const auto slots = static_cast<int>(concurrencies[i]);
            CHECK(trial.concurrency == concurrencies[i]);
            CHECK(trial.num_items == static_cast<std::uint64_t>(items[i]));
            CHECK(trial.num_results == trial.num_items);
            CHECK(trial.num_failures == 0);
            CHECK(trial.elapsed == each * items[i] / slots);
            CHECK(trial.rate() == Catch::Approx(slots * (stage == 1 ? 50 : 200)));
            CHECK(trial.ave_time == each);
            CHECK(trial.readiness == 1);
            CHECK(trial.times.await == each * items[i]);
            CHECK(trial.times.total() == trial.elapsed * slots);
        }
    }
    CHECK(p == profile(pipeline, time));
}

TEST_CASE("a profile also tries a for_each at the end") {
    virtual_time time;
    const auto write = [](int) -> weir::task<> { co_await weir::sleep_for(20ms); };
    const auto pipeline =
        numbers() | weir::pipe(in_5_ms) | weir::for_each(write, {.name = "write", .concurrency = 2});
    const auto p = profile(pipeline, time, 64, {.concurrencies = {4, 1}});
    REQUIRE(p.stages.size() == 3);
    CHECK(p.stages[2].name == "write");
    CHECK(p.stages[2].kind == "for_each");
    REQUIRE(p.stages[2].trials.size() == 2);
    CHECK(p.stages[2].trials[0].num_items == 40);
    CHECK(p.stages[2].trials[0].num_results == 0);
    CHECK(p.stages[2].trials[0].elapsed == 20ms * 40 / 4);
    CHECK(p.stages[2].trials[1].num_items == 22);
    CHECK(p.stages[2].trials[1].elapsed == 20ms * 22);
}

TEST_CASE("a profile has the rate of the source") {
    virtual_time time;
    const auto slow_source = [] {
        return [n = 0]() mutable -> weir::task<std::optional<int>> {
            const int mine = n++;
            co_await weir::sleep_for(10ms);
            co_return std::optional<int>(mine);
        };
    };
    const auto p = profile(weir::source(slow_source()) | weir::sink(), time, 50);
    REQUIRE(p.stages.size() == 1);
    CHECK(p.stages[0].trials.at(0).rate() == Catch::Approx(100));
    CHECK(p.stages[0].trials.at(0).ave_time == 10ms);
    CHECK_FALSE(p.stages[0].trials.at(0).readiness.has_value());
}

TEST_CASE("a profile tries a stage with one slot by nature once, and goes on with its results") {
    virtual_time time;
    const auto sum = [](std::vector<int> all) -> weir::task<int> {
        co_await weir::sleep_for(8ms);
        co_return static_cast<int>(all.size());
    };
    const auto p = profile(numbers() | weir::aggregate(4) | weir::pipe(sum) | weir::sink(), time, 140,
                           {.concurrencies = {1, 3}});
    REQUIRE(p.stages.size() == 3);
    REQUIRE(p.stages[1].trials.size() == 1);
    CHECK(p.stages[1].kind == "aggregate");
    CHECK(p.stages[1].trials[0].num_items == 140);
    CHECK(p.stages[1].trials[0].num_results == 35);
    REQUIRE(p.stages[2].trials.size() == 2);
    CHECK(p.stages[2].trials[0].num_items == 13);
    CHECK(p.stages[2].trials[0].rate() == Catch::Approx(125));
    CHECK(p.stages[2].trials[1].num_items == 21);  // and one that passes on untried
    CHECK(p.stages[2].trials[1].rate() == Catch::Approx(375));
}

TEST_CASE("in a profile the sources give more items if a stage behind batches would have too few") {
    virtual_time time;
    std::size_t made = 0;
    const auto source = [&made]() { return std::optional<int>(static_cast<int>(made++)); };
    const auto collate = [n = 0](std::vector<int> batch) mutable -> weir::task<int> {
        co_await weir::sleep_for(n++ % 2 == 0 ? 3ms : 1ms);
        co_return static_cast<int>(batch.size());
    };
    const auto pipeline = weir::source(source) | weir::aggregate(32) |
                          weir::pipe(collate, {.name = "collate"}) |
                          weir::for_each([](int n) { CHECK(n == 32); });
    const auto p = profile(pipeline, time);
    CHECK(p.num_items == 1000);
    CHECK(made == 12'000);  // 375 batches
    const auto& trials = p.stages.at(2).trials;
    REQUIRE(trials.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
        CAPTURE(i, trials[i].num_items);
        CHECK(trials[i].end == weir::trial_end::complete);
        REQUIRE(trials[i].pace.has_value());
        CHECK(trials[i].num_items >= 4 * trials[i].concurrency);
    }
    CHECK(trials[4].num_items >= 10);
    CHECK(trials[4].pace->rate_interval()->holds(500));
    CHECK(trials[4].rate() == Catch::Approx(500).epsilon(0.03));
    CHECK(trials[0].speed_up(trials[4])->low > 10);
}

TEST_CASE("if the sources end, a profile tries a stage behind batches with the fewest slots") {
    virtual_time time;
    const auto collate = [](std::vector<int> batch) -> weir::task<std::size_t> {
        co_await weir::sleep_for(2ms);
        co_return batch.size();
    };
    const auto p = profile(weir::source(std::views::iota(0, 1000)) | weir::aggregate(32) |
                               weir::pipe(collate) | weir::sink(),
                           time);
    const auto& trials = p.stages.at(2).trials;
    CHECK(trials.at(4).num_items == 11);
    CHECK(trials[4].rate() == Catch::Approx(500));
    CHECK(trials[3].num_items == 20);
    CHECK(trials[3].rate() == Catch::Approx(2000));
    for (std::size_t i = 0; i < 3; ++i) CHECK(trials[i].end == weir::trial_end::too_few);
}

TEST_CASE("a profile gives up on a stage that gets nothing even from more items") {
    virtual_time time;
    std::size_t made = 0;
    const auto source = [&made]() { return std::optional<int>(static_cast<int>(made++)); };
    const auto none = [](int n) { return n == 7 ? std::optional<int>(n) : std::nullopt; };
    const auto p = profile(weir::source(source) | weir::pipe(none) | weir::pipe(in_5_ms, {.name = "after"}) |
                               weir::sink(),
                           time);
    CHECK(made == 2000);
    CHECK(p.stages.at(2).trials.at(4).num_items == 1);
    CHECK_FALSE(p.stages.at(2).trials.at(4).pace.has_value());
}

TEST_CASE(
    "in a profile each item passes each stage once, and the sources give no more items than asked for") {
    virtual_time time;
    std::vector<int> made;
    std::vector<int> seen;
    const auto source = [&made]() -> std::optional<int> {
        made.push_back(static_cast<int>(made.size()));
        return made.back();
    };
    const auto p = profile(weir::source(source) | weir::pipe(in_5_ms, {.concurrency = 3}) |
                               weir::for_each([&seen](int n) { seen.push_back(n); }),
                           time, 50, {.concurrencies = {4, 1}});
    CHECK(p.num_items == 50);
    CHECK(made.size() == 50);
    CHECK(seen == made);
}

TEST_CASE("a profile tries a for_each with one slot only with one, because its order may matter") {
    virtual_time time;
    std::vector<int> seen;
    const auto slower_first = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(20ms - n * 1ms);
        co_return n;
    };
    const auto p =
        profile(numbers() | weir::pipe(slower_first) | weir::for_each([&seen](int n) { seen.push_back(n); }),
                time, 20, {.concurrencies = {4}});
    CHECK(p.stages.at(2).trials.at(0).concurrency == 1);
    CHECK(std::ranges::is_sorted(seen));
    CHECK(seen.size() == 20);
}

TEST_CASE("a profile may try a concurrency twice, each time on items of its own") {
    virtual_time time;
    const auto p = profile(numbers() | weir::pipe(in_5_ms) | weir::pipe(in_5_ms) | weir::sink(), time, 20,
                           {.concurrencies = {1, 1}});
    for (const std::size_t stage : {1U, 2U}) {
        for (const auto& trial : p.stages.at(stage).trials) CHECK(trial.num_items == 10);
    }
}

TEST_CASE("a profile ends the trial of a stage that takes too long, and goes on") {
    virtual_time time;
    const auto slow = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(4s);
        co_return n;
    };
    const auto p =
        profile(numbers() | weir::pipe(slow) | weir::pipe(in_5_ms), time, 100, {.concurrencies = {1, 2}});
    CHECK(p.stages.at(1).trials.at(0).num_items == 2);
    CHECK(p.stages.at(1).trials.at(1).num_items <= 5);
    CHECK(p.stages.at(1).trials.at(1).num_items >= 4);
}

TEST_CASE("a profile counts items that fail, and goes on without them") {
    virtual_time time;
    const auto odd_only = [](int n) {
        if (n % 2 == 0) throw std::runtime_error("even");
        return n;
    };
    const auto p = profile(numbers() | weir::pipe(odd_only, {.max_failures = 0}) | weir::pipe(in_5_ms), time,
                           10, {.concurrencies = {2}});
    CHECK(p.stages.at(1).trials.at(0).num_failures == 5);
    CHECK(p.stages.at(1).trials.at(0).num_results == 5);
    CHECK(p.stages.at(2).trials.at(0).num_items == 10);  // of as many more
}

TEST_CASE("a profile throws the exception that stops a source") {
    virtual_time time;
    const auto broken = []() -> std::optional<int> { throw std::runtime_error("no disk"); };
    CHECK(contains(message_of([&] { static_cast<void>(profile(weir::source(broken) | weir::sink(), time)); }),
                   "no disk"));
}

TEST_CASE("a profile takes fewer items if the source ends, and none if a stage gives none") {
    virtual_time time;
    const auto none = [](int) { return std::optional<int>(); };
    const auto p = profile(weir::source({1, 2, 3}) | weir::pipe(none) | weir::pipe(in_5_ms) | weir::sink(),
                           time, 100, {.concurrencies = {2}});
    CHECK(p.num_items == 3);
    CHECK(p.stages.at(1).trials.at(0).num_items == 2);
    CHECK(p.stages.at(2).trials.at(0).num_items == 0);
    CHECK(p.stages.at(2).trials.at(0).rate() == 0);
}

TEST_CASE("a profile takes items over the ends of epochs") {
    virtual_time time;
    const auto p =
        profile(weir::source(weir::epochs(std::vector<int>{1, 2, 3}, 5)) | weir::aggregate(4) |
                    weir::disaggregate() | weir::pipe(in_5_ms) | weir::sink(),
                time, 10, {.concurrencies = {4}});  // and the ends of two epochs: so there are more
    CHECK(p.num_items == 8);
    CHECK(p.stages.at(1).trials.at(0).num_results == 5);  // a batch ends with an epoch
    CHECK(p.stages.at(2).trials.at(0).num_results == 15);
    CHECK(p.stages.at(3).trials.at(0).elapsed == 15ms);
}

TEST_CASE("a profile tries each stage of a list") {
    virtual_time time;
    weir::stage_list<int> list;
    list.add(weir::pipe(in_20_ms, {.name = "a", .concurrency = 4}));
    list.add(weir::pipe(in_5_ms, {.name = "b"}));
    const auto p =
        profile(numbers() | list | weir::stage_list<int>() | weir::sink(), time, 12, {.concurrencies = {4}});
    REQUIRE(p.stages.size() == 3);
    CHECK(p.stages[1].name == "a");
    CHECK(p.stages[1].trials.at(0).elapsed == 60ms);
    CHECK(p.stages[2].name == "b");
    CHECK(p.stages[2].trials.at(0).elapsed == 15ms);
}

TEST_CASE("a profile tries the stages of merged pipelines, and of the branches of a route and a split") {
    virtual_time time;
    const auto in_1_ms = [](std::vector<int> v) -> weir::task<std::vector<int>> {
        co_await weir::sleep_for(1ms);
        co_return v;
    };
    const auto pipeline = weir::merge(numbers() | weir::pipe(in_20_ms, {.name = "left"}),
                                      numbers() | weir::pipe(in_5_ms, {.name = "right", .concurrency = 2})) |
                          weir::route([](int n) { return n % 2; },
                                      weir::branch("even", weir::pipe(in_5_ms, {.name = "in even"})),
                                      weir::branch("odd", weir::pipe(in_20_ms, {.name = "in odd"}))) |
                          weir::aggregate(4) |
                          weir::split([k = 0](int) mutable { return k++ % 2; },
                                      weir::branch("p", weir::pipe(in_1_ms, {.name = "in p"})),
                                      weir::branch("q", weir::pipe(in_1_ms, {.name = "in q"}))) |
                          weir::sink();
    const auto p = profile(pipeline, time, 40, {.concurrencies = {4}});
    CHECK(p.num_items == 80);
    const auto trial = [&p](const std::string& name) {
        for (const auto& stage : p.stages) {
            if (stage.name == name) return stage.trials.at(0);
        }
        throw std::out_of_range(name);
    };
    for (const auto& [name, rate] : std::vector<std::pair<std::string, double>>{{"left", 200},
                                                                                {"right", 800},
                                                                                {"in even", 800},
                                                                                {"in odd", 200},
                                                                                {"in p", 4000},
                                                                                {"in q", 4000}}) {
        CAPTURE(name);
        CHECK(trial(name).concurrency == 4);
        CHECK(trial(name).rate() == Catch::Approx(rate));
    }
    CHECK(trial("left").num_items == 40);
    CHECK(trial("in even").num_items + trial("in odd").num_items == 80);
    CHECK(trial("in p").num_items == 20);
}

TEST_CASE("a profile moves a source that works for one run only out of the pipeline") {
    virtual_time time;
    const auto p =
        profile(weir::source(three()) | weir::pipe(in_5_ms) | weir::sink(), time, 10, {.concurrencies = {1}});
    CHECK(p.stages.at(1).trials.at(0).num_items == 3);
}

TEST_CASE("a profile's items and stages need not be copyable") {
    virtual_time time;
    auto add = [one = std::make_unique<int>(1)](std::unique_ptr<int> n) { return *n + *one; };
    const auto p = profile(weir::source({1, 2}) | weir::pipe([](int n) { return std::make_unique<int>(n); }) |
                               weir::pipe(std::move(add)) | weir::sink(),
                           time, 2, {.concurrencies = {1}});
    CHECK(p.stages.at(1).trials.at(0).num_results == 2);
    CHECK(p.stages.at(2).trials.at(0).num_results == 2);
}

TEST_CASE("a profile throws the exceptions of its progress callback") {
    virtual_time time;
    const auto stop = [](const profile_progress& at) {
        if (at.done == 2) throw std::runtime_error("enough");
    };
    CHECK(contains(message_of([&] {
                       static_cast<void>(profile(numbers() | weir::pipe(in_5_ms) | weir::sink(), time, 1000,
                                                 {.on_progress = stop}));
                   }),
                   "enough"));
}

TEST_CASE("a profile reports its progress before each trial and at the end") {
    virtual_time time;
    std::vector<profile_progress> told;
    const auto pipeline = numbers() | weir::aggregate(2) |
                          weir::pipe([](std::vector<int> v) { return v.size(); }, {.name = "size"}) |
                          weir::sink();
    const auto p = profile(pipeline, time, 100,
                           {.concurrencies = {4, 1},
                            .on_progress = [&](const profile_progress& at) { told.push_back(at); }});
    CHECK(p.stages.size() == 3);
    REQUIRE(told.size() == 5);
    const std::vector<std::string> names = {"src", "aggregate#1", "size", "size", ""};
    for (std::size_t i = 0; i < told.size(); ++i) {
        CHECK(told[i].stage == names[i]);
        CHECK(told[i].done == i);
        CHECK(told[i].total == 4);
    }
    CHECK(told[2].concurrency == 1);
    CHECK(told[3].concurrency == 4);
}

TEST_CASE("a profile of 0 items, or without a concurrency, is refused") {
    virtual_time time;
    const auto pipeline = numbers() | weir::sink();
    CHECK_THROWS_AS(static_cast<void>(profile(pipeline, time, 0)), std::invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(profile(pipeline, time, 1, {.concurrencies = {}})),
                    std::invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(profile(pipeline, time, 1, {.concurrencies = {4, 0}})),
                    std::invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(profile(pipeline, time, 1, {.time_limit = 0s})), std::invalid_argument);
}

TEST_CASE("a profile that would close the channel of a sink_to is refused, and takes no item") {
    virtual_time time;
    weir::channel<int> to(100, time);
    int made = 0;
    const auto make = [&made]() -> std::optional<int> { return made++; };
    const auto pipeline = [&](const weir::sink_to_options& options) {
        return weir::source(make) | weir::pipe(in_5_ms) | weir::sink_to(to, options);
    };
    CHECK(message_of([&] { static_cast<void>(profile(pipeline({}), time, 20)); }) ==
          "weir: a profile would put the items of its trials into the channel of the sink_to, and close it: "
          "profile the pipeline with weir::sink() in place of the sink_to, or give the sink_to a channel of "
          "its own and {.closes = false}");
    CHECK(made == 0);
    CHECK_FALSE(to.closed());
    const profile_result all = profile(pipeline({.closes = false}), time, 20, {.concurrencies = {1}});
    CHECK(all.stages.size() == 3);
    CHECK_FALSE(to.closed());
    CHECK(to.size() == 20);
}

TEST_CASE("a profile of a source that waits for results of later stages ends, and says so") {
    virtual_time time;
    weir::thread_pool pool(2);
    for (weir::executor* const ex :
         {static_cast<weir::executor*>(&time), static_cast<weir::executor*>(&pool)}) {
        weir::channel<int> back(1, *ex);
        CHECK(back.try_put(0) == weir::channel_status::success);
        const auto source = [&back]() -> weir::task<std::optional<int>> {
            auto next = co_await back.get();
            co_return next;
        };
        const auto again = [&back](int n) -> weir::task<int> {
            co_await back.put(n + 1);
            co_return n;
        };
        const auto p = profile(weir::source(source) | weir::pipe(again) | weir::sink(), *ex, 100,
                               {.concurrencies = {4, 1}, .time_limit = 20ms});
        CHECK(p.num_items <= 1);
        if (ex == &pool) continue;  // whose threads may be late
        CHECK(p.stages.at(0).trials.at(0).end == weir::trial_end::stuck);
        CHECK(p.stages.at(1).trials.at(1).num_items == 1);
        CHECK(p.stages.at(1).trials.at(0).end == weir::trial_end::too_few);
        CHECK(p.stages.at(1).trials.at(0).concurrency == 4);
    }
}

TEST_CASE("a profile runs on threads as well") {
    weir::thread_pool pool(2);
    const auto p = profile(numbers() | weir::pipe([](int n) { return n * 2; }, {.name = "twice"}) |
                               weir::pipe([](int n) { return std::to_string(n); }) | weir::sink(),
                           pool, 500, {.concurrencies = {4, 1}});
    REQUIRE(p.stages.size() == 3);
    const std::vector<std::uint64_t> items = {324, 175};  // and one that passes on untried
    CHECK(p.stages[0].trials.at(0).num_items == 500);
    for (const std::size_t stage : {1U, 2U}) {
        for (std::size_t i = 0; i < 2; ++i) {
            const auto& trial = p.stages[stage].trials.at(i);
            CHECK(trial.num_items == items[i]);
            CHECK(trial.num_results == items[i]);
            CHECK(trial.rate() > 0);
        }
    }
}

namespace {

profile_trial trial(std::size_t slots, duration elapsed, duration each) {
    profile_trial t;
    t.concurrency = slots;
    t.elapsed = elapsed;
    t.num_items = t.num_results = 64;
    t.pace = weir::item_pace();
    t.pace->num_items = 60;
    t.pace->num_blocks = 15;
    t.pace->elapsed = elapsed * 60 / 64;
    t.ave_time = each;
    t.times.run = elapsed;
    t.times.await = elapsed * static_cast<std::int64_t>(slots - 1);
    t.readiness = 1;
    return t;
}

profile_result example() {
    profile_result p;
    p.num_items = 64;
    p.stages = {{"src", "source", {trial(1, 64ms, 1ms)}},
                {"decode", "pipe", {trial(4, 320ms, 20ms), trial(1, 1'280ms, 20ms)}}};
    p.stages[0].trials[0].readiness.reset();
    p.stages[1].trials[1].num_failures = 2;
    return p;
}

const std::string text_of_example = R"(each stage alone, 64 items

                                                                                          ------------------- % of the slots' time --------------------
stage   slots     items  failed      rate               95 %  speed-up        95 %       ave  run  await  runnable  wait_get  wait_put  wait_turn  overhead  readiness
src         1        64       0   1.0 k/s    1.0 k/s-1.0 k/s         -           -    1.0 ms  100      0         0         0         0          0         0          -
decode      4        64       0    200 /s      200 /s-200 /s       4.0     4.0-4.0   20.0 ms   25     75         0         0         0          0         0      100 %
            1        64       2   50.0 /s    50.0 /s-50.0 /s       1.0           -   20.0 ms  100      0         0         0         0          0         0      100 %

items: invocations; rate: of them a second, and its 95 % confidence interval; below a readiness of 100 % the stage is faster than it was fed;
speed-up: over the fewest slots; none is told where its interval holds 1; runnable: no thread was free.
)";

}  // namespace

TEST_CASE("a profile is printed as a table with a line per trial") {
    CHECK(weir::profile_text(example()) == text_of_example);
}

TEST_CASE("a profile is printed alike in a German locale and with any flags of the stream") {
    const weir_test::german_locale here;
    std::ostringstream out;
    out << std::hex << std::setw(500) << std::setfill('*') << example();
    CHECK(out.str() == text_of_example);
}

TEST_CASE("a stage whose name has control characters has one line of a profile") {
    profile_result p;
    p.stages = {{"a\n\x1b[2J", "pipe", {profile_trial()}}};
    CHECK(weir::profile_text(p).find("\na??[2J      1         0 ") != std::string::npos);
    std::ostringstream out;
    profile_bar(out, false)({"a\n\x1b[2J", 32, 9, 10});
    CHECK(out.str() == " 9/10  a??[2J, 32 slots\n");
}

TEST_CASE("an empty profile is a heading, and a stage that took no item has dashes") {
    CHECK(weir::profile_text({}) == "each stage alone, 0 items\n");
    profile_result p;
    p.stages = {{"a", "pipe", {profile_trial()}}};
    CHECK(weir::profile_text(p).find("\na          1         0       0         0                  -         "
                                     "-           -         -    -      -") != std::string::npos);
}

TEST_CASE("the rate of a profile is that of the items taken") {
    CHECK(trial(4, 320ms, 20ms).rate() == Catch::Approx(200));
    CHECK(profile_trial().rate() == 0);
}

TEST_CASE("the bar of a profile overwrites its line, and ends it at the end") {
    std::ostringstream out;
    profile_bar bar(out);
    bar({"a long name", 4, 0, 2});
    bar({"b", 1, 1, 2});
    bar({"", 0, 2, 2});
    CHECK(out.str() ==
          "\r[..............................]  0/2  a long name, 4 slots"
          "\r[###############...............]  1/2  b, 1 slot           "
          "\r[##############################]  2/2           \n");
}

TEST_CASE("the bar of a profile writes a line for each trial if it is not in place") {
    std::ostringstream out;
    profile_bar bar(out, false);
    bar({"a", 32, 9, 10});
    bar({"", 0, 10, 10});
    CHECK(out.str() == " 9/10  a, 32 slots\n10/10\n");
}
