#include <weir/insight/tuning_changes.hpp>

#include "support/catch.hpp"
#include "support/recordings.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

using namespace std::chrono_literals;
using recordings::awaiting;
using recordings::builder;
using weir::change_kind;
using weir::pipeline_settings;
using weir::setting_change;
using weir::detail::changes_towards;
using weir::detail::plan_limits;
using weir::detail::resources;
using weir::detail::resources_of;

namespace {

// A source, two stages of 8 and 1 slots, and a sink; room for 2, 2, 2 and 3 items.
pipeline_settings settings() {
    return builder()
        .stage({.name = "a", .concurrency = 8}, awaiting({1}))
        .stage({.name = "b", .concurrency = 1}, awaiting({1}))
        .consumed()
        .settings;
}
plan_limits limits(std::size_t slots, std::size_t items = 0) {
    plan_limits all;
    all.num_slots = slots;
    all.items = items;
    all.fixed_slots = {true, false, false, true};
    all.fixed_room.assign(4, false);
    return all;
}

}  // namespace

TEST_CASE("slots that are taken from a stage are free for others only in a later lap") {
    const plan_limits some = limits(11);
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
    plan_limits some = limits(0, 24);  // 19 of them are used
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
    const plan_limits some = limits(0);
    const resources used = weir::detail::resources_in_use(settings(), some, now, now);
    CHECK(used.num_slots == resources_of(settings(), some).num_slots + 1);
    CHECK(used.places == resources_of(settings(), some).places + 3);
}

TEST_CASE("settings above the limits lose slots, room and threads where there is most, or are refused") {
    plan_limits some = limits(5);
    const pipeline_settings s = weir::detail::fitted(settings(), some);
    CHECK(resources_of(s, some).num_slots == 5);
    CHECK(s.stage("a").concurrency == 3);
    some.num_slots = 0;
    some.items = 10;
    CHECK(resources_of(weir::detail::fitted(settings(), some), some).items() == 10);
    some = limits(0);
    some.threads = 2;
    pipeline_settings many = settings();
    many.pools = {7};
    CHECK(weir::detail::fitted(many, some).pools[0] == 2);
    CHECK_THROWS_AS(weir::detail::fitted(settings(), limits(2)), std::invalid_argument);
    CHECK_THROWS_AS(weir::detail::fitted(settings(), limits(0, 6)), std::invalid_argument);
}

TEST_CASE("numbers that stand for no limit are brought within limits, and back, at once") {
    constexpr std::size_t endless = SIZE_MAX / 2;
    plan_limits some = limits(0, 1'000'000);
    pipeline_settings large = settings();
    for (weir::stage_settings& each : large.stages) each.capacity = endless;
    large.stage("b").concurrency = endless / 3;
    pipeline_settings reached = weir::detail::fitted(large, some);
    CHECK(resources_of(reached, some).items() == 1'000'000);
    CHECK(reached.stage("a").capacity == reached.stage("b").concurrency);
    CHECK(reached.stage("a").concurrency == 8);
    some = limits(endless);
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
