#include <weir/simulation/identities.hpp>

#include "support/catch.hpp"

#include <weir/measure/histogram.hpp>

#include <chrono>
#include <utility>

using Catch::Matchers::ContainsSubstring;
using weir::channel_stats;
using weir::duration;
using weir::histogram;
using weir::pipeline_stats;
using weir::stage_stats;
using weir::simulation::check_identities;
using weir::simulation::failed_check;

namespace {

pipeline_stats sound() {
    pipeline_stats all;
    stage_stats stage;
    stage.name = "decode";
    stage.elapsed = duration(100);
    stage.per_slot.resize(1);
    stage.per_slot[0].run = duration(30);
    stage.per_slot[0].wait_get = duration(70);
    stage.busy = duration(30);
    stage.num_tasks = 3;
    stage.num_failures = 1;
    stage.task_times = histogram::without_quantiles(2, duration(20), duration(15));
    all.stages.push_back(stage);
    channel_stats queue;
    queue.name = "in";
    queue.elapsed = duration(100);
    queue.empty = duration(80);
    queue.get_wait = queue.get_blocked = duration(70);
    queue.num_put = 5;
    queue.num_get = 3;
    queue.size = 2;
    queue.put_waits = histogram::without_quantiles(5, duration(0), duration(0));
    queue.get_waits = histogram::without_quantiles(3, duration(70), duration(40));
    all.channels.push_back(queue);
    all.elapsed = duration(100);
    all.num_items = 3;
    all.first_item = {.after = duration(40), .since = duration(60), .num_items = 2};
    return all;
}

template <class Change>
std::string complaint_about(Change change) {
    pipeline_stats stats = sound();
    if constexpr (requires { change(stats); }) {
        change(stats);
    } else {
        change(stats.stages[0], stats.channels[0]);
    }
    try {
        check_identities(stats);
    } catch (const failed_check& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("figures that agree are taken") { CHECK_NOTHROW(check_identities(sound())); }

TEST_CASE("each contradiction is told, and where it is") {
    const auto told = [](auto change) { return complaint_about(change); };
    CHECK_THAT(told([](auto& s, auto&) { s.per_slot[0].run += duration(1); }),
               ContainsSubstring("stage 'decode': the states of a slot sum to the time that passed"));
    CHECK_THAT(told([](auto& s, auto&) {
                   s.per_slot[0].run = duration(-30);
                   s.per_slot[0].wait_get = duration(130);
                   s.busy = duration(-30);
               }),
               ContainsSubstring("less than no time"));
    for (duration weir::slot_times::* const state :
         {&weir::slot_times::off, &weir::slot_times::wait_get, &weir::slot_times::runnable,
          &weir::slot_times::run, &weir::slot_times::await, &weir::slot_times::wait_put,
          &weir::slot_times::wait_turn, &weir::slot_times::overhead}) {
        CHECK_THAT(told([state](auto& s, auto&) {
                       const bool is_run = state == &weir::slot_times::run;
                       s.per_slot[0] = {};
                       s.per_slot[0].*state = duration(-1);
                       s.per_slot[0].*(is_run ? &weir::slot_times::off : &weir::slot_times::run) =
                           duration(101);
                       s.busy = s.times().busy();
                   }),
                   ContainsSubstring("less than no time"));
    }
    CHECK_THAT(told([](auto& s, auto&) { s.busy += duration(1); }), ContainsSubstring("busy while they run"));
    CHECK_THAT(told([](auto& s, auto&) { s.num_failures = 4; }), ContainsSubstring("no more fail"));
    CHECK_THAT(told([](auto& s, auto&) { s.num_tasks = 4; }), ContainsSubstring("each success has a time"));
    CHECK_THAT(told([](auto&, auto& q) { q.size = 3; }),
               ContainsSubstring("queue 'in': what was put was got, was discarded, or is inside"));
    CHECK_THAT(told([](auto&, auto& q) { q.num_discarded = 1; }), ContainsSubstring("was discarded"));
    CHECK_THAT(told([](auto&, auto& q) { q.empty = duration(101); }),
               ContainsSubstring("a part of the time"));
    CHECK_THAT(told([](auto&, auto& q) { q.put_blocked = duration(1); }),
               ContainsSubstring("as long as all do"));
    CHECK_THAT(told([](auto&, auto& q) { q.get_blocked = duration(71); }),
               ContainsSubstring("as long as all do"));
    CHECK_THAT(told([](auto&, auto& q) { q.put_wait = q.put_blocked = duration(21); }),
               ContainsSubstring("to put while it is empty"));
    CHECK_THAT(told([](auto&, auto& q) { q.empty = duration(69); }),
               ContainsSubstring("to get while something"));
    CHECK_THAT(told([](auto&, auto& q) { q.num_put += q.num_discarded = 1; }),
               ContainsSubstring("each operation has a wait"));
}

TEST_CASE("a first item that came when nothing ran, or counts among those since, contradicts the rest") {
    CHECK(complaint_about([](pipeline_stats& p) { p.first_item.reset(); }) == "none");
    CHECK(complaint_about([](pipeline_stats& p) { p.first_item->num_items = 3; }) == "none");  // of a lap
    for (const int wrong : {0, 1}) {
        CHECK_THAT(complaint_about([&](pipeline_stats& p) { p.first_item->num_items = wrong == 0 ? 1 : 4; }),
                   ContainsSubstring("what came since is all but the first item"));
        CHECK_THAT(complaint_about(
                       [&](pipeline_stats& p) { p.first_item->since = duration(wrong == 0 ? -1 : 101); }),
                   ContainsSubstring("the first item came while it ran"));
    }
}
