#include <weir/insight/tuning_plan.hpp>

#include "support/catch.hpp"
#include "support/recordings.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using Catch::Approx;
using recordings::awaiting;
using recordings::builder;
using recordings::running;
using weir::pipeline_settings;
using weir::recording;
using weir::detail::best_settings;
using weir::detail::plan_limits;
using weir::detail::planned_rate;
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
