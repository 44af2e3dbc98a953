#include <weir/simulation/explore_pipeline.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/simulation/explore.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sim = weir::simulation;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using weir::channel_stats;
using weir::duration;
using weir::histogram;
using weir::pipeline_stats;
using weir::stage_stats;
using weir::simulation::check_identities;
using weir::simulation::failed_check;
using ints = std::vector<int>;

namespace {

template <class Policy>
weir::task<> put_twice(weir::channel<char, Policy>& to, char c) {
    co_await to.put(c + 0);
    co_await to.put(c + 0);
}

// In which orders the items of two coroutines may lie in a channel that has room for all of them.
template <class Policy>
std::set<std::string> orders() {
    std::set<std::string> all;
    const auto scenario = [&all](sim::world& w) {
        weir::channel<char, Policy> items(4);
        weir::sync_wait(w, weir::when_all(put_twice(items, 'a'), put_twice(items, 'b')));
        std::string order;
        while (const auto item = items.try_get()) order += *item;
        all.insert(order);
    };
    sim::explore(scenario, {.schedules = 100'000, .strategy = sim::strategy::exhaustive});
    return all;
}

}  // namespace

TEST_CASE("others may go on between any two operations, also those that needn't wait") {
    CHECK(orders<weir::summed>() == std::set<std::string>{"aabb", "bbaa"});
    CHECK(orders<sim::stepwise>() == std::set<std::string>{"aabb", "abab", "abba", "baab", "baba", "bbaa"});
}

TEST_CASE("in steps the same is measured as in sums") {
    CHECK(sim::stepwise::statistics);
    CHECK_FALSE(sim::stepwise::histograms);
}

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

TEST_CASE("what comes out of a pipeline is checked under each schedule, and so are its figures") {
    const auto slow = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(weir::duration(n % 3));
        co_return n * 10;
    };
    std::set<ints> orders;
    const auto done =
        sim::explore(weir::source(std::views::iota(0, 6)) | weir::pipe(slow, {.concurrency = 3}) |
                         weir::sink(),
                     [&](ints all) {
                         orders.insert(all);
                         std::ranges::sort(all);
                         sim::world::check(all == ints{0, 10, 20, 30, 40, 50}, "each item comes once");
                     },
                     {.schedules = 300});
    CHECK(done.schedules == 300);
    CHECK(orders.size() > 1);
}

TEST_CASE("a check that fails under some schedule shows that schedule") {
    const auto pipeline = weir::source(std::views::iota(0, 6)) |
                          weir::pipe([](int n) { return n; }, {.concurrency = 2}) | weir::sink();
    CHECK_THROWS_WITH(sim::explore(pipeline,
                                   [](const ints& all) {
                                       sim::world::check(std::ranges::is_sorted(all),
                                                         "they keep their order");
                                   }),
                      ContainsSubstring("they keep their order") && ContainsSubstring("WEIR_SCHEDULE="));
}

TEST_CASE("items that only move are given to the check") {
    const auto boxed = weir::pipe([](int n) { return std::make_unique<int>(n); });
    sim::explore(weir::source(std::views::iota(0, 3)) | boxed | weir::sink(),
                 [](std::vector<std::unique_ptr<int>> all) { sim::world::check(all.size() == 3, "three"); },
                 {.schedules = 10});
}

TEST_CASE("a pipeline that fails is a schedule that fails, and says where and why") {
    const auto broken =
        weir::pipe([](int n) { return n < 2 ? n : throw std::runtime_error("no more"); }, {.name = "broken"});
    CHECK_THROWS_WITH(sim::explore(weir::source(std::views::iota(0, 3)) | broken | weir::sink(),
                                   [](const ints&) {}),
                      ContainsSubstring("'broken'") && ContainsSubstring("no more"));
}

TEST_CASE("what a pipeline does that ends with a for_each is checked under each schedule") {
    std::set<ints> orders;
    ints seen;
    const auto write = [&seen](int n) -> weir::task<> {
        if (n == 0) seen.clear();
        co_await weir::sleep_for(weir::duration(n % 3));
        seen.push_back(n);
    };
    const auto done =
        sim::explore(weir::source(std::views::iota(0, 6)) | weir::for_each(write, {.concurrency = 3}),
                     [&](const weir::run_result& all) {
                         sim::world::check(all.items == 6 && seen.size() == 6, "all are written");
                         orders.insert(seen);
                     },
                     {.schedules = 300});
    CHECK(done.schedules == 300);
    CHECK(orders.size() > 1);
}
