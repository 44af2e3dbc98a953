#include <weir/insight/tuning_plan.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "support/catch.hpp"
#include "support/recordings.hpp"

using Catch::Approx;
using namespace std::chrono_literals;
using recordings::awaiting;
using recordings::builder;
using recordings::running;
using weir::change_kind;
using weir::pipeline_settings;
using weir::recording;
using weir::setting_change;
using weir::detail::best_settings;
using weir::detail::changes_towards;
using weir::detail::plan_limits;
using weir::detail::planned_rate;
using weir::detail::resources;
using weir::detail::resources_of;

namespace {

// The limits of a source, stages and a sink, whose source and sink have one slot.
plan_limits limits(std::size_t stages, std::size_t slots = 0, std::size_t items = 0) {
    plan_limits all;
    all.num_slots = slots;
    all.items = items;
    all.fixed_slots.assign(stages + 2, false);
    all.fixed_slots.front() = all.fixed_slots.back() = true;
    all.fixed_room.assign(stages + 2, false);
    all.per_item.assign(stages + 2, 1);
    return all;
}

// Stages of 10, 40 and 20 ms.
recording three_stages() {
    return builder()
        .stage({.name = "a", .concurrency = 9}, awaiting({10}))
        .stage({.name = "b", .concurrency = 9}, awaiting({40}))
        .stage({.name = "c", .concurrency = 9}, awaiting({20}))
        .consumed(awaiting({5}));
}

}  // namespace

TEST_CASE("a plan gives slots to the stages that need them, within the budget") {
    const recording from = three_stages();
    const pipeline_settings s = best_settings(from, limits(3, 8));  // one is that of the source
    CHECK(s.stage("a").concurrency == 1);
    CHECK(s.stage("b").concurrency == 4);
    CHECK(s.stage("c").concurrency == 2);
    CHECK(planned_rate(s, from) == Approx(100).epsilon(0.01));
}

TEST_CASE("a plan for batches simulates enough of them to use all slots behind the batch") {
    recording from = builder()
                         .stage({.name = "a"}, awaiting({1}))
                         .aggregate("batch", 500)
                         .stage({.name = "b", .concurrency = 60}, awaiting({30'000}))
                         .consumed();
    from.num_items = 100;
    from.stages[1].num_tasks = from.stages[2].num_tasks = 50'000;
    from.stages[3].num_tasks = 100;
    // A batch comes each 500 ms, and takes 60 slots for 30 s.
    CHECK(planned_rate(from.settings, from) == Approx(2).epsilon(0.01));
    pipeline_settings fewer = from.settings;
    fewer.stage("b").concurrency = 40;
    CHECK(planned_rate(fewer, from) == Approx(1.33).epsilon(0.01));
}

TEST_CASE("a plan for batches simulates fewer of them, so that it takes no longer") {
    std::vector<std::int64_t> times;
    for (int i = 0; i < 1'000; ++i) times.push_back(i % 7 + 1);
    recording from = builder()
                         .stage({.name = "a"}, awaiting(times))
                         .aggregate("batch", 256)
                         .stage({.name = "b"}, awaiting(times))
                         .consumed();
    from.num_items = 100;
    from.stages[1].num_tasks = from.stages[2].num_tasks = 25'600;
    from.stages[3].num_tasks = 100;
    const weir::predict_options few =
        weir::detail::short_simulation(weir::detail::tasks_per_item(from), 1'000);
    const weir::prediction p = weir::predict(from.settings, from, few);
    CHECK(p.rate == planned_rate(from.settings, from));
    CHECK(p.stages[0].num_tasks + p.stages[1].num_tasks + p.stages[2].num_tasks < 42'000);
    from.num_items = 0;  // unknown
    CHECK(weir::detail::short_simulation(weir::detail::tasks_per_item(from), 1'000).items == 1'000);
    CHECK(weir::detail::short_simulation(1e9, 1'000).items == 40);
}

TEST_CASE("without a rate to compare there is no plan") {
    recording from = three_stages();
    from.settings.num_items = 90;  // fewer than a simulation skips
    CHECK(planned_rate(from.settings, from) == 0);
    CHECK(best_settings(from, limits(3)) == from.settings);
}

TEST_CASE("a plan without a budget takes no more than the consumer needs") {
    const pipeline_settings s = best_settings(three_stages(), limits(3));
    CHECK(s.stage("a").concurrency == 2);
    CHECK(s.stage("b").concurrency == 8);
    CHECK(s.stage("c").concurrency == 4);
    CHECK(s.stage("a").capacity == 2);
}

TEST_CASE("a stage whose slots are fixed limits a plan, and so does the number of invocations for an item") {
    plan_limits some = limits(3);
    some.fixed_slots[2] = true;
    recording from = three_stages();
    from.settings.stage("b").concurrency = 2;  // 50 items per second
    pipeline_settings s = best_settings(from, some);
    CHECK(s.stage("b").concurrency == 2);
    CHECK(s.stage("a").concurrency == 1);
    CHECK(s.stage("c").concurrency == 1);
    some.per_item[1] = 4;  // four calls of `a` for an item of the consumer
    s = best_settings(from, some);
    CHECK(s.stage("a").concurrency >= 1);
}

TEST_CASE("a plan makes room where times vary, but not beyond the budget of items") {
    std::vector<std::int64_t> early, late;
    for (int i = 0; i < 32; ++i) early.push_back(i < 8 ? 1 : i < 16 ? 9 : i < 24 ? 1 : 9);
    for (int i = 0; i < 32; ++i) late.push_back(10 - early[static_cast<std::size_t>(i)]);
    const recording from =
        builder().stage({.name = "a"}, awaiting(early)).stage({.name = "b"}, awaiting(late)).consumed();
    plan_limits some = limits(2);
    some.fixed_slots = {true, true, true, true};
    const pipeline_settings free = best_settings(from, some);
    CHECK(free.stage("a").capacity >= 8);
    CHECK(planned_rate(free, from) > 1.3 * planned_rate(from.settings, from));
    some.items = 14;
    const pipeline_settings bound = best_settings(from, some);
    CHECK(resources_of(bound, some).items() <= 14);
    CHECK(planned_rate(bound, from) > planned_rate(from.settings, from));
}

TEST_CASE("a plan gives no stage more slots than the limit, also where slots are added by several") {
    std::vector<std::int64_t> times;
    for (int i = 0; i < 64; ++i) times.push_back(i < 8 ? 292 : 4);
    const recording from =
        builder().stage({.name = "a", .concurrency = 8}, awaiting(times)).consumed(awaiting({1}));
    plan_limits some = limits(1);
    some.fixed_room.assign(3, true);
    for (std::size_t most = 36; most != 56; ++most) {
        some.most_slots = most;
        CHECK(best_settings(from, some).stage("a").concurrency <= most);
    }
}

TEST_CASE("a plan changes the threads of a pool only if it may, and takes as many as the stages need") {
    recording from = builder().stage({.name = "a", .concurrency = 8}, running({10})).consumed(awaiting({4}));
    from.settings.pools = {2};
    CHECK(best_settings(from, limits(1)).pools[0] == 2);
    CHECK(best_settings(from, limits(1)).stage("a").concurrency == 2);
    plan_limits some = limits(1);
    some.threads = 8;
    const pipeline_settings s = best_settings(from, some);
    CHECK(s.pools[0] == 3);
    CHECK(s.stage("a").concurrency == 3);
    some.threads = 1;
    CHECK(best_settings(from, some).pools[0] == 1);
    some.threads = 1'000'000'000;  // is found without as many predictions
    CHECK(best_settings(from, some).pools[0] == 3);
}

TEST_CASE("the queue before the consumer keeps its room, as far as the budget of items allows") {
    const recording from =
        builder().stage({.name = "a", .capacity = 9}, awaiting({1})).consumed(awaiting({9}), 20);
    CHECK(best_settings(from, limits(1)).stage("sink").capacity == 20);
    CHECK(best_settings(from, limits(1)).stage("a").capacity == 2);
    const plan_limits tight = limits(1, 0, 16);
    CHECK(resources_of(best_settings(from, tight), tight).items() == 16);
    CHECK(best_settings(from, tight).stage("sink").capacity == 10);
    recording endless = from;
    endless.settings.stage("sink").capacity = SIZE_MAX / 2;
    CHECK(best_settings(endless, limits(1, 0, SIZE_MAX / 8)).stage("sink").capacity > SIZE_MAX / 16);
}

namespace {

// A source, two stages of 8 and 1 slots, and a sink; room for 2, 2, 2 and 3 items.
pipeline_settings settings() {
    return builder()
        .stage({.name = "a", .concurrency = 8}, awaiting({1}))
        .stage({.name = "b", .concurrency = 1}, awaiting({1}))
        .consumed()
        .settings;
}

}  // namespace

TEST_CASE("slots that are taken from a stage are free for others only in a later lap") {
    const plan_limits some = limits(2, 11);
    pipeline_settings target = settings();
    target.stage("a").concurrency = 2;
    target.stage("b").concurrency = 6;
    pipeline_settings reached = settings();
    const auto first = changes_towards(target, reached, some, resources_of(reached, some));
    CHECK(first == std::vector<setting_change>{{change_kind::concurrency, "a", 2},
                                               {change_kind::concurrency, "b", 2}});
    CHECK_FALSE(weir::detail::are_same(reached, target));
    const auto second = changes_towards(target, reached, some, resources_of(reached, some));
    CHECK(second == std::vector<setting_change>{{change_kind::concurrency, "b", 6}});
    CHECK(weir::detail::are_same(reached, target));
}

TEST_CASE("room counts with the slots as items in flight, and threads have a limit of their own") {
    plan_limits some = limits(2, 0, 24);  // 19 of them are used
    some.threads = 4;
    pipeline_settings target = settings();
    target.pools = {9};
    target.stage("b").capacity = 40;
    pipeline_settings reached = settings();
    reached.pools = {1};
    const auto changes = changes_towards(target, reached, some, resources_of(reached, some));
    CHECK(changes ==
          std::vector<setting_change>{{change_kind::capacity, "b", 7}, {change_kind::threads, "", 4}});
}

TEST_CASE("in use are also removed slots that have not ended, and items above the capacity") {
    weir::pipeline_stats now;
    now.stages.resize(4);
    now.channels.resize(4);
    for (std::size_t i = 0; i < 4; ++i) {
        now.stages[i].outputs = {i};
        now.channels[i].capacity = 2;
        now.stages[i].concurrency = i == 1 ? 8 : 1;
    }
    now.stages[1].per_slot.resize(10);
    now.stages[1].per_slot[8].off = 1ms;  // ended within the lap; the next one is at work
    now.channels[2].size = 5;
    const plan_limits some = limits(2, 0);
    const resources used = weir::detail::resources_in_use(settings(), some, now, now);
    CHECK(used.num_slots == resources_of(settings(), some).num_slots + 1);
    CHECK(used.places == resources_of(settings(), some).places + 3);
}

TEST_CASE("settings above the limits lose slots, room and threads where there is most, or are refused") {
    plan_limits some = limits(2, 5);
    const pipeline_settings s = weir::detail::fitted(settings(), some);
    CHECK(resources_of(s, some).num_slots == 5);
    CHECK(s.stage("a").concurrency == 3);
    some.num_slots = 0;
    some.items = 10;
    CHECK(resources_of(weir::detail::fitted(settings(), some), some).items() == 10);
    some = limits(2, 0);
    some.threads = 2;
    pipeline_settings many = settings();
    many.pools = {7};
    CHECK(weir::detail::fitted(many, some).pools[0] == 2);
    CHECK_THROWS_AS(weir::detail::fitted(settings(), limits(2, 2)), std::invalid_argument);
    CHECK_THROWS_AS(weir::detail::fitted(settings(), limits(2, 0, 6)), std::invalid_argument);
}

TEST_CASE("numbers that stand for no limit are brought within limits, and back, at once") {
    constexpr std::size_t endless = SIZE_MAX / 2;
    plan_limits some = limits(2, 0, 1'000'000);
    pipeline_settings large = settings();
    for (weir::stage_settings& each : large.stages) each.capacity = endless;
    large.stage("b").concurrency = endless / 3;
    pipeline_settings reached = weir::detail::fitted(large, some);
    CHECK(resources_of(reached, some).items() == 1'000'000);
    CHECK(reached.stage("a").capacity == reached.stage("b").concurrency);
    CHECK(reached.stage("a").concurrency == 8);
    some = limits(2, endless);
    const auto changes = changes_towards(large, reached, some, resources_of(reached, some));
    CHECK(changes.back() == setting_change{change_kind::capacity, "sink", static_cast<double>(endless)});
    CHECK(weir::detail::are_same(reached, large));
}

TEST_CASE("reduced settings take the lesser of both numbers") {
    pipeline_settings to = settings();
    to.stage("a").concurrency = 1;
    to.stage("b").capacity = 64;
    const pipeline_settings less = weir::detail::reduced(settings(), to);
    CHECK(less.stage("a").concurrency == 1);
    CHECK(less.stage("b").capacity == 2);
}
