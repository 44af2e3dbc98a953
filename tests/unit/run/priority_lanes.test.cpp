#include <weir/run/priority_lanes.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/branch.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/run.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/cache.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::priority_lanes;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;
using strings = std::vector<std::string>;
using ints = std::vector<int>;

namespace {

task<> note(strings& log, std::string what) {
    log.push_back(std::move(what));
    co_return;
}

task<> note_twice(strings& log, weir::executor& here, std::string what) {
    log.push_back(what + "1");
    co_await weir::schedule(here);
    log.push_back(what + "2");
}

// Spawns on an executor, and joins on it.
class crowd {
  public:
    explicit crowd(weir::executor& ex) : group_(ex) {}
    void spawn(task<> t) { group_.spawn(std::move(t)); }
    void join(virtual_time& time) { weir::sync_wait(time, wait(group_)); }

  private:
    static task<> wait(weir::task_group& g) { co_await g.join(); }
    weir::task_group group_;
};

// Each stage notes what it does, and does it at once.
auto noting(strings& log, std::string name, weir::stage_options o = {}) {
    o.name = name;
    return weir::pipe(
        [&log, name](int n) {
            log.push_back(name + std::to_string(n));
            return n;
        },
        std::move(o));
}

}  // namespace

TEST_CASE("a later lane has priority, and one lane keeps the order of the posts") {
    virtual_time time;
    strings log;
    {
        priority_lanes lanes(time);
        weir::executor& low = lanes.add();
        weir::executor& middle = lanes.add();
        weir::executor& high = lanes.add();
        crowd a(low), b(middle), c(high);
        a.spawn(note(log, "low1"));
        a.spawn(note(log, "low2"));
        c.spawn(note(log, "high1"));
        b.spawn(note(log, "middle1"));
        c.spawn(note(log, "high2"));
        b.spawn(note(log, "middle2"));
        a.join(time);
        b.join(time);
        c.join(time);
    }
    CHECK(log == strings{"high1", "high2", "middle1", "middle2", "low1", "low2"});
}

TEST_CASE("the lanes keep their order however many there are, and know their own") {
    constexpr std::size_t num = 1'000;  // more than one block
    virtual_time time;
    priority_lanes lanes(time), others(time);
    std::vector<weir::executor*> all;
    for (std::size_t i = 0; i < num; ++i) all.push_back(&lanes.add());
    weir::executor& other = others.add();
    std::vector<std::size_t> ran;
    std::size_t wrong = 0;
    const auto note_place = [&](std::size_t i) -> task<> {
        ran.push_back(i);
        // The first two of each lane run before all of the lanes below.
        if (lanes.has_more_urgent(*all[i]) || lanes.has_more_urgent(other)) ++wrong;
        if (lanes.has_more_urgent(*all[0]) != (ran.size() < 2 * num - 2)) ++wrong;
        co_return;
    };
    std::vector<std::optional<crowd>> crowds(num);
    for (std::size_t k = 0; k < 2; ++k) {
        for (std::size_t n = 0; n < num; ++n) {
            const std::size_t i = n * 617 % num;  // each once, in another order
            if (!crowds[i]) crowds[i].emplace(*all[i]);
            crowds[i]->spawn(note_place(i));
        }
    }
    CHECK(lanes.has_more_urgent(*all[num - 2]));
    CHECK_FALSE(lanes.has_more_urgent(*all[num - 1]));
    CHECK_FALSE(lanes.has_more_urgent(time));
    CHECK_FALSE(others.has_more_urgent(*all[0]));
    for (auto& each : crowds) each->join(time);
    REQUIRE(ran.size() == 2 * num);
    for (std::size_t n = 0; n < 2 * num; ++n) {
        if (ran[n] != num - 1 - n / 2) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK_FALSE(lanes.has_more_urgent(*all[0]));
}

TEST_CASE("a fork on a lane runs at once, and what is more urgent runs before its caller") {
    virtual_time time;
    strings log;
    priority_lanes lanes(time);
    weir::executor& low = lanes.add();
    weir::executor& high = lanes.add();
    crowd urgent(high);
    const auto forks = [](strings& to, weir::executor& here, crowd& other) -> task<> {
        weir::task_group group(here);
        other.spawn(note(to, "urgent"));
        co_await group.fork(note(to, "fork1"));
        co_await group.fork(note(to, "fork2"));
        to.push_back("forks");
        co_await group.join();
    };
    crowd a(low);
    a.spawn(forks(log, low, urgent));
    a.join(time);
    urgent.join(time);
    CHECK(log == strings{"fork1", "urgent", "fork2", "forks"});
}

TEST_CASE("a coroutine that is posted to a later lane runs before those that wait in earlier ones") {
    virtual_time time;
    strings log;
    priority_lanes lanes(time);
    weir::executor& low = lanes.add();
    weir::executor& high = lanes.add();
    crowd a(low), b(high);
    const auto calls = [](strings& to, crowd& urgent) -> task<> {
        to.push_back("calls");
        urgent.spawn(note(to, "urgent"));
        co_return;
    };
    a.spawn(note_twice(log, low, "x"));
    a.spawn(calls(log, b));
    a.spawn(note(log, "y"));
    a.join(time);
    b.join(time);
    CHECK(log == strings{"x1", "calls", "urgent", "y", "x2"});
    CHECK_FALSE(lanes.has_more_urgent(low));
}

TEST_CASE("a lane has the executor's clock, and timers resume coroutines regardless of priorities") {
    virtual_time time;
    strings log;
    priority_lanes lanes(time);
    weir::executor& low = lanes.add();
    CHECK(low.traits().exclusive);
    CHECK(low.traits().parallelism == time.traits().parallelism);
    crowd a(low);
    const auto sleeps = [](strings& to) -> task<> {
        co_await weir::sleep_for(3s);
        to.push_back("awake");
    };
    a.spawn(sleeps(log));
    a.join(time);
    CHECK(low.now() == weir::time_point(3s));
    CHECK(log == strings{"awake"});
}

TEST_CASE("after 64 coroutines of lanes a thread runs others of the executor") {
    virtual_time time;
    strings log;
    priority_lanes lanes(time);
    weir::executor& lane = lanes.add();
    crowd a(lane), others(time);
    const auto busy = [](strings& to, weir::executor& here) -> task<> {
        for (int i = 0; i < 1'000; ++i) co_await weir::schedule(here);
        to.push_back("lane");
    };
    a.spawn(busy(log, lane));
    others.spawn(note(log, "other"));
    a.join(time);
    others.join(time);
    CHECK(log == strings{"other", "lane"});
}

TEST_CASE("lanes that were never used, or used up, go at once") {
    virtual_time time;
    {
        priority_lanes none(time);
    }
    {
        priority_lanes unused(time);
        static_cast<void>(unused.add());
    }
    weir::thread_pool pool(3);
    for (int i = 0; i < 50; ++i) {
        priority_lanes lanes(pool);
        weir::executor& lane = lanes.add();
        const auto nothing = [](weir::executor& here) -> task<> { co_await weir::schedule(here); };
        weir::sync_wait(lane, nothing(lane));
    }
}

TEST_CASE("on a pool of one worker later stages have priority: items are finished before new ones begin") {
    for (const std::size_t capacity : {std::size_t(1), std::size_t(2), std::size_t(10)}) {
        weir::thread_pool pool(1);
        strings log;
        auto run = (weir::source(std::views::iota(0, 8), {.capacity = capacity}) |
                    noting(log, "a", {.capacity = capacity}) | noting(log, "b", {.capacity = capacity}) |
                    noting(log, "c", {.capacity = capacity}) | weir::sink(20))
                       .start(pool, {.later_stages_first = true});
        CHECK(take_all(run).size() == 8);
        // No stage is ahead of the next one by more than an item that it has done and one in hand.
        int a = 0, b = 0, c = 0;
        for (const std::string& what : log) {
            (what[0] == 'a' ? a : what[0] == 'b' ? b : c) += 1;
            CHECK(a - b <= 2);
            CHECK(b - c <= 2);
        }
        CHECK(log.size() == 24);
        CHECK(flows::add_up(run.stats()));
    }
}

TEST_CASE("on virtual time the order is exact: each item goes all the way before the next one") {
    virtual_time time;
    strings log;
    auto run = (weir::source(std::views::iota(0, 4), {.capacity = 5}) | noting(log, "a", {.capacity = 5}) |
                noting(log, "b", {.capacity = 5}) | weir::sink(20))
                   .start(time, {.later_stages_first = true});
    CHECK(take_all(run) == ints{0, 1, 2, 3});
    CHECK(log == strings{"a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"});

    strings without;
    auto plain =
        (weir::source(std::views::iota(0, 4), {.capacity = 5}) | noting(without, "a", {.capacity = 5}) |
         noting(without, "b", {.capacity = 5}) | weir::sink(20))
            .start(time);
    CHECK(take_all(plain).size() == 4);
    CHECK(without != log);
}

TEST_CASE("every kind of stage works with later stages first, with epochs or without, on virtual time") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        virtual_time time(seed);
        const auto waits = weir::pipe(
            [](int n) -> task<int> {
                co_await weir::sleep_for(n % 3 * 1ms);
                co_return n;
            },
            {.concurrency = 3});
        const auto middle =
            waits | weir::tee(waits) |
            weir::route([](int n) { return n % 2; }, weir::branch("a", waits), weir::branch("b")) |
            weir::aggregate(4) | weir::disaggregate();
        auto run =
            (weir::merge({.order = weir::merge_order::round_robin}, weir::source(std::views::iota(0, 40)),
                         weir::source(std::views::iota(40, 60))) |
             middle | weir::sink())
                .start(time, {.later_stages_first = true});
        ints all = take_all(run);
        std::ranges::sort(all);
        REQUIRE(all.size() == 60);
        CHECK(all.front() == 0);
        CHECK(all.back() == 59);
        CHECK(std::ranges::adjacent_find(all) == all.end());
        CHECK(flows::add_up(run.stats()));
        const auto by_epoch =
            flows::by_epoch((weir::source(weir::epochs(ints{1, 2, 3, 4, 5}, 3)) | middle | weir::sink())
                                .start(time, {.later_stages_first = true}));
        REQUIRE(by_epoch.size() == 3);
        for (const auto& each : by_epoch) CHECK(each.second.size() == 5);
    }
}

// Five at once, so that what comes behind finds more than one in its queue.
template <class Item>
auto bursts(Item item) {
    return weir::source(std::views::iota(0, 3), {.capacity = 5}) |
           weir::flat_map([item](int) { return std::vector<Item>(5, item); }, {.capacity = 5});
}

// How much lies between the stage of that name and the end, whenever the last function is called.
template <class Begin, class Kind>
std::size_t most_ahead(Begin begin, Kind kind, const std::string& name) {
    virtual_time time;
    std::function<std::size_t()> look;
    std::size_t most = 0;
    auto run = (std::move(begin) | std::move(kind) | weir::pipe([&](auto item) {
                    most = std::max(most, look());
                    return item;
                }) |
                weir::sink(100))
                   .start(time, {.later_stages_first = true});
    look = [&run, &name] {
        std::size_t ahead = 0;
        bool behind = false;
        const weir::pipeline_stats s = run.stats();
        for (std::size_t i = 0; i + 2 < s.channels.size(); ++i) {
            behind = behind || s.channels[i].name == name;
            if (behind) ahead += s.channels[i].size;
        }
        return ahead;
    };
    std::size_t count = 0;
    while (run.get()) ++count;
    CHECK(count != 0);
    return most;
}

TEST_CASE("no kind of stage begins with an item while a later stage is ready") {
    const auto nothing = [](auto item) { return item; };
    const auto first = [](int) { return 0; };
    const auto pass = [&] { return weir::pipe(nothing, {.name = "pass", .capacity = 5}); };
    const auto five = bursts(0);
    const auto lists = bursts(ints{1, 2});
    CHECK(most_ahead(five, pass(), "pass") == 0);
    CHECK(most_ahead(five, weir::aggregate(1, {.name = "these", .capacity = 5}), "these") == 0);
    CHECK(most_ahead(five, weir::tee(pass(), {.name = "these", .capacity = 5}), "these") == 0);
    CHECK(most_ahead(five, weir::route(first, {.capacity = 5}, weir::branch("these")), "these") == 0);
    CHECK(most_ahead(lists, weir::split(first, {.capacity = 5}, weir::branch("these")), "these") == 0);
    CHECK(most_ahead(five, weir::cache(2, {.name = "these", .capacity = 5}), "these") == 0);
    CHECK(most_ahead(weir::merge({.name = "these", .capacity = 5}, five, five), pass(), "these") == 0);
    CHECK(most_ahead(weir::zip({.name = "these", .capacity = 5}, five, five), pass(), "these") == 0);
}

TEST_CASE("a run with later stages first is left early, fails, and is paused as any other") {
    const auto pipeline = weir::source(std::views::iota(0)) |
                          weir::pipe([](int n) { return n; }, {.concurrency = 2}) | weir::pipe([](int n) {
                              if (n == 30) throw std::runtime_error("thirty");
                              return n;
                          }) |
                          weir::sink();
    for (int i = 0; i < 5; ++i) {
        virtual_time time;
        auto early = pipeline.start(time, {.later_stages_first = true});
        for (int n = 0; n < i; ++n) CHECK(early.get().has_value());
        weir::thread_pool pool(2);
        auto other = pipeline.start(pool, {.later_stages_first = true});
        for (int n = 0; n < i; ++n) CHECK(other.get().has_value());
        CHECK(take_until_failure(pipeline.start(pool, {.later_stages_first = true})).failed);
        auto paused = pipeline.start(pool, {.later_stages_first = true});
        paused.pause();
        paused.resume();
        CHECK(take_until_failure(paused).failed);
    }
    // Never run at all.
    virtual_time time;
    static_cast<void>(pipeline.start(time, {.later_stages_first = true}));
}

TEST_CASE("runs with lanes share a pool with each other and with the pool's other work") {
    weir::thread_pool pool(2);
    const auto pipeline = weir::source(std::views::iota(0, 500)) |
                          weir::pipe(
                              [](int n) -> task<int> {
                                  if (n % 50 == 0) co_await weir::sleep_for(1us);
                                  co_return n;
                              },
                              {.concurrency = 4}) |
                          weir::sink();
    auto one = pipeline.start(pool, {.later_stages_first = true});
    auto two = pipeline.start(pool);
    auto three = pipeline.start(pool, {.later_stages_first = true});
    const auto yields = []() -> task<int> {
        int n = 0;
        for (; n < 1'000; ++n) co_await weir::yield();
        co_return n;
    };
    CHECK(weir::sync_wait(pool, yields()) == 1'000);
    CHECK(take_all(one).size() == 500);
    CHECK(take_all(two).size() == 500);
    CHECK(take_all(three).size() == 500);
}

TEST_CASE("a stage that names an executor runs there, and the others in the lanes") {
    weir::thread_pool pool(1);
    weir::thread_pool other(1);
    auto run = (weir::source(std::views::iota(0, 200)) |
                weir::pipe([](int n) { return n + 1; }, {.executor = &other}) |
                weir::pipe([](int n) { return n - 1; }) | weir::sink())
                   .start(pool, {.later_stages_first = true});
    CHECK(take_all(run).size() == 200);
}

TEST_CASE("a coroutine of a lane that blocks leaves its pump's work to another") {
    struct body {
        static task<int> nested(weir::executor& lane, int levels) {
            co_await weir::schedule(lane);
            co_return levels == 0 ? 0 : 1 + weir::sync_wait(lane, nested(lane, levels - 1));
        }
    };
    weir::thread_pool pool(1);
    weir::priority_lanes lanes(pool);
    weir::executor& lane = lanes.add();
    for (int i = 0; i < 3; ++i) CHECK(weir::sync_wait(lane, body::nested(lane, 5)) == 5);
}
