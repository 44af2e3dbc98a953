#include <weir/run/run_core.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"
#include "support/slow_world.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/traverse.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::channel_stats;
using weir::duration;
using weir::pipeline_stats;
using weir::stage_stats;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

auto takes(duration d) {
    return [d](int n) -> task<int> {
        co_await weir::sleep_for(d);
        co_return n;
    };
}

// n items, one each `d`, through a queue.
auto one_each(duration d, int n) {
    return weir::source(std::views::iota(0, n)) | weir::pipe(takes(d), {.name = "p"}) | weir::sink();
}

// The figures that add up: a sum over laps.
void add(pipeline_stats& sum, const pipeline_stats& lap) {
    sum.elapsed += lap.elapsed;
    sum.stages.resize(lap.stages.size());
    sum.channels.resize(lap.channels.size());
    for (std::size_t i = 0; i < lap.stages.size(); ++i) {
        stage_stats& s = sum.stages[i];
        const stage_stats& l = lap.stages[i];
        s.elapsed += l.elapsed;
        s.num_tasks += l.num_tasks;
        s.num_failures += l.num_failures;
        s.task_time += l.task_time;
        s.busy += l.busy;
        s.per_slot.resize(l.per_slot.size());
        for (std::size_t k = 0; k < l.per_slot.size(); ++k) s.per_slot[k] += l.per_slot[k];
        s.task_times += l.task_times;
        channel_stats& c = sum.channels[i];
        const channel_stats& m = lap.channels[i];
        c.elapsed += m.elapsed;
        c.num_put += m.num_put;
        c.num_get += m.num_get;
        c.put_wait += m.put_wait;
        c.get_wait += m.get_wait;
        c.put_blocked += m.put_blocked;
        c.get_blocked += m.get_blocked;
        c.empty += m.empty;
        c.put_waits += m.put_waits;
        c.get_waits += m.get_waits;
    }
}

// Where the laps' sum is not the total; empty if it is. A histogram's maximum is not a sum: a lap
// knows its own only by its bucket.
std::string differences(const pipeline_stats& sum, const pipeline_stats& total) {
    std::string all;
    const auto same = [&all](const std::string& what, const auto& a, const auto& b) {
        if (!(a == b)) all += what + " ";
    };
    same("elapsed", sum.elapsed, total.elapsed);
    for (std::size_t i = 0; i < total.stages.size(); ++i) {
        const stage_stats& s = sum.stages.at(i);
        const stage_stats& t = total.stages.at(i);
        const std::string of = t.name + ".";
        same(of + "elapsed", s.elapsed, t.elapsed);
        same(of + "num_tasks", s.num_tasks, t.num_tasks);
        same(of + "num_failures", s.num_failures, t.num_failures);
        same(of + "task_time", s.task_time, t.task_time);
        same(of + "busy", s.busy, t.busy);
        same(of + "slots", s.per_slot, t.per_slot);
        same(of + "task_times.count", s.task_times.count(), t.task_times.count());
        same(of + "task_times.sum", s.task_times.sum(), t.task_times.sum());
        const channel_stats& c = sum.channels.at(i);
        const channel_stats& d = total.channels.at(i);
        same(of + "queue.elapsed", c.elapsed, d.elapsed);
        same(of + "num_put", c.num_put, d.num_put);
        same(of + "num_get", c.num_get, d.num_get);
        same(of + "put_wait", c.put_wait, d.put_wait);
        same(of + "get_wait", c.get_wait, d.get_wait);
        same(of + "put_blocked", c.put_blocked, d.put_blocked);
        same(of + "get_blocked", c.get_blocked, d.get_blocked);
        same(of + "empty", c.empty, d.empty);
        same(of + "put_waits", c.put_waits.count(), d.put_waits.count());
        same(of + "get_waits", c.get_waits.count(), d.get_waits.count());
    }
    return all;
}

}  // namespace

TEST_CASE("3.2 intervals are three laps, of exactly the interval each") {
    virtual_time time;
    std::vector<pipeline_stats> laps;
    std::vector<weir::time_point> at;
    auto run = one_each(100ms, 32).start(time, {.lap = 1s, .on_lap = [&](const pipeline_stats& lap) {
                                                    laps.push_back(lap);
                                                    at.push_back(time.now());
                                                }});
    CHECK(take_all(run).size() == 32);
    CHECK(time.now() == weir::time_point(3200ms));
    time.run();
    CHECK(time.now() == weir::time_point(3200ms));
    REQUIRE(laps.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CAPTURE(i);
        CHECK(at.at(i) == weir::time_point(static_cast<int>(i + 1) * 1s));
        CHECK(laps.at(i).elapsed == 1s);
        for (const stage_stats& s : laps.at(i).stages) CHECK(s.elapsed == 1s);
        for (const channel_stats& c : laps.at(i).channels) CHECK(c.elapsed == 1s);
        CHECK(laps.at(i).stages.at(1).busy == 1s);
    }
}

TEST_CASE("a lap includes its begin but not its end: an event at the boundary is in the next lap") {
    virtual_time time;
    std::vector<std::uint64_t> finished;
    std::vector<std::uint64_t> consumed;
    // Item n is done at (n + 1) ms sharp: the first in the second lap.
    auto run = one_each(1ms, 4).start(time, {.lap = 1ms, .on_lap = [&](const pipeline_stats& lap) {
                                                 finished.push_back(lap.stages.at(1).num_tasks);
                                                 consumed.push_back(lap.channels.at(2).num_get);
                                                 CHECK(lap.stages.at(1).busy == 1ms);
                                             }});
    CHECK(take_all(run).size() == 4);
    CHECK(finished == std::vector<std::uint64_t>{0, 1, 1, 1});
    CHECK(consumed == finished);
    CHECK(run.stats().stages.at(1).num_tasks == 4);
}

TEST_CASE("the sum of all laps is the total, to the nanosecond") {
    for (const duration lap : {duration(7ns), duration(1us), duration(13us), duration(100us)}) {
        virtual_time time;
        pipeline_stats sum;
        std::string wrong;
        std::size_t laps = 0;
        std::optional<weir::run<int>> run;
        const auto pipeline = weir::source(std::views::iota(0, 30)) |
                              weir::pipe(takes(lap * 2 / 3), {.name = "a", .concurrency = 2}) |
                              weir::aggregate(3) | weir::disaggregate({.capacity = 1}) |
                              weir::pipe(takes(lap * 5 / 4), {.name = "b"}) | weir::sink(1);
        run.emplace(pipeline.start(time, {.lap = lap, .on_lap = [&](const pipeline_stats& l) {
                                              ++laps;
                                              add(sum, l);
                                              wrong += differences(sum, run->stats());
                                          }}));
        CHECK(take_all(*run).size() == 30);
        CAPTURE(lap.count());
        CHECK(laps >= 30);
        CHECK(wrong == "");
    }
}

TEST_CASE("there are no laps without an interval, or without on_lap and reports") {
    virtual_time time;
    int laps = 0;
    auto one = one_each(1s, 3).start(time, {.on_lap = [&laps](const pipeline_stats&) { ++laps; }});
    CHECK(take_all(one).size() == 3);
    CHECK(laps == 0);
    auto two = one_each(1s, 3).start(time, {.lap = 1ms});
    CHECK(take_all(two).size() == 3);
}

TEST_CASE("a lap longer than the run never ends, and doesn't hold the run up") {
    for (const duration lap : {duration(4s), duration(24h), duration::max()}) {
        virtual_time time;
        int laps = 0;
        auto run =
            one_each(1s, 3).start(time, {.lap = lap, .on_lap = [&laps](const pipeline_stats&) { ++laps; }});
        CHECK(take_all(run).size() == 3);
        time.run();
        CHECK(time.now() == weir::time_point(3s));
        CHECK(laps == 0);
    }
}

TEST_CASE("laps continue while a pipeline is stalled") {
    virtual_time time;
    std::vector<std::uint64_t> done;
    auto run = one_each(10s, 1).start(time, {.lap = 3s, .on_lap = [&done](const pipeline_stats& lap) {
                                                 done.push_back(lap.stages.at(1).num_tasks);
                                                 CHECK(lap.stages.at(1).busy == 3s);
                                             }});
    CHECK(take_all(run).size() == 1);
    CHECK(done == std::vector<std::uint64_t>{0, 0, 0});
}

TEST_CASE("an exception from on_lap ends the stream after the finished items") {
    virtual_time time;
    int laps = 0;
    auto run =
        one_each(100ms, 100)
            .start(time, {.max_failures = weir::unlimited, .lap = 1s, .on_lap = [&](const pipeline_stats&) {
                              if (++laps == 2) throw std::runtime_error("the disk is full");
                          }});
    const auto end = take_until_failure(run);
    CHECK(end.taken.size() == 19);  // the next one is under way at the end of the lap
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "on_lap");
    CHECK(end.inside == "the disk is full");
    CHECK(laps == 2);
    CHECK_FALSE(run.get().has_value());

    // Nobody consumes meanwhile: what lies in the last queue is still delivered.
    laps = 0;
    auto idle = one_each(100ms, 100).start(time, {.lap = 1s, .on_lap = [&](const pipeline_stats&) {
                                                      if (++laps == 2)
                                                          throw std::runtime_error("the disk is full");
                                                  }});
    time.run_until(time.now() + 10s);
    const auto rest = take_until_failure(idle);
    CHECK(rest.taken.size() >= 3);
    CHECK(rest.taken.at(2) == 2);
    CHECK(rest.failed);
}

TEST_CASE("a run that is stopped between two laps gives no more of them") {
    virtual_time time;
    int laps = 0;
    auto run =
        one_each(100ms, 100).start(time, {.lap = 1s, .on_lap = [&laps](const pipeline_stats&) { ++laps; }});
    for (int i = 0; i < 15; ++i) CHECK(run.get() == i);
    run.stop();
    time.run_until(time.now() + 10s);
    CHECK(laps == 1);
}

TEST_CASE("laps continue until the last worker has left, and no longer") {
    virtual_time time;
    std::vector<weir::duration> laps;
    const auto fast = weir::pipe([](int n) { return n; }, {.concurrency = 3});
    auto run = (weir::source(std::views::iota(0, 12)) | fast | weir::sink(1))
                   .start(time, {.lap = 1s, .on_lap = [&laps](const pipeline_stats& lap) {
                                     laps.push_back(lap.elapsed);
                                 }});
    // All wait for the consumer.
    time.run_until(time_point(5500ms));
    CHECK(laps == std::vector<weir::duration>(5, 1s));
    CHECK(take_all(run).size() == 12);
    const auto end = run.stats();
    CHECK(end.elapsed == 5500ms);
    time.run_until(time_point(1h));
    CHECK(laps.size() == 5);
    CHECK(run.stats().elapsed == 5500ms);
}

TEST_CASE("after a stop, statistics continue while a worker is still at work") {
    virtual_time time;
    weir::stop_source stop;
    const auto rest = []() -> task<> { co_await weir::sleep_for(100ms); };
    // A group's tasks belong to the group: a stop waits for them.
    const auto slow = [&](int n) -> task<int> {
        weir::task_group group(time);
        group.spawn(rest());
        co_await group.join();
        co_return n;
    };
    auto run = (weir::source({1, 2}) | weir::pipe(slow, {.name = "slow"}) | weir::sink())
                   .start(time, {.stop = stop.get_token()});
    time.run_until(time_point(10ms));
    stop.request_stop();
    CHECK_FALSE(run.get().has_value());
    CHECK(time.now() == time_point(10ms));
    time.run_until(time_point(60ms));
    CHECK(run.stats().elapsed == 60ms);
    CHECK(run.stats().stages.at(1).times().await == 60ms);
    time.run_until(time_point(200ms));
    CHECK(run.stats().stages.at(1).times().await == 100ms);
}

// Against the rules: it resumes within the call, so that a coroutine sees the end as soon as it is there.
class at_once final : public weir::executor {
  public:
    explicit at_once(weir::executor& clock) : clock_(clock) {}
    void post(std::coroutine_handle<> h) noexcept override { resume(h); }
    void add(weir::timer& t) noexcept override { clock_.add(t); }
    void cancel(weir::timer& t) noexcept override { clock_.cancel(t); }
    bool drive(flag&, time_point) override { return false; }
    time_point now() const noexcept override { return clock_.now(); }

  private:
    weir::executor& clock_;
};

TEST_CASE("when a consumer sees the end of the stream, all workers have left, and statistics are final") {
    virtual_time time;
    at_once here(time);
    auto run = (weir::source({1, 2}) | weir::pipe([](int n) -> task<int> {
                    co_await weir::sleep_for(10ms);
                    co_return n;
                }) |
                weir::sink())
                   .start(time);
    int taken = 0;
    const auto consume = [&run, &taken]() -> task<> {
        while (auto next = co_await run.next()) ++taken;
    };
    weir::task_group consumer(here);
    consumer.spawn(consume());
    time.run_until(time_point(1s));
    CHECK(taken == 2);
    CHECK(run.ended());
    CHECK(run.stats().elapsed == 20ms);
    weir::sync_wait(time, consumer.join());
}

TEST_CASE("laps that are late by one are one together, also by exactly one") {
    slow_world world;
    std::vector<weir::duration> laps;
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(10s);
        co_return n;
    };
    auto run = (weir::source({1}) | weir::pipe(slow) | weir::sink())
                   .start(world, {.lap = 1s, .on_lap = [&](const pipeline_stats& lap) {
                                      laps.push_back(lap.elapsed);
                                      if (laps.size() == 1) world.pass(1s);
                                  }});
    world.run();
    world.pass(1s);
    world.run();  // the lap's report takes as long as the next one
    CHECK(world.now() == weir::time_point(2s));
    CHECK(laps == std::vector<weir::duration>{1s});
    world.pass(1s);
    world.run();
    CHECK(laps == std::vector<weir::duration>{1s, 2s});
    world.pass(7s);
    CHECK(take_all(run).size() == 1);
}

TEST_CASE("after a late lap the next one ends where it would have ended all the same") {
    slow_world world;
    std::vector<weir::duration> laps;
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(10s);
        co_return n;
    };
    auto run = (weir::source({1}) | weir::pipe(slow) | weir::sink())
                   .start(world, {.lap = 1s, .on_lap = [&](const pipeline_stats& lap) {
                                      laps.push_back(lap.elapsed);
                                      if (laps.size() == 1) world.pass(2'500ms);
                                  }});
    world.run();
    world.pass(1s);
    world.run();
    CHECK(world.now() == weir::time_point(3'500ms));
    world.pass(500ms - 1ns);
    world.run();
    CHECK(laps == std::vector<weir::duration>{1s});
    world.pass(1ns);
    world.run();
    CHECK(laps == std::vector<weir::duration>{1s, 3s});
    world.pass(6s);
    CHECK(take_all(run).size() == 1);
}

TEST_CASE("the usage of the process is measured in real time, and final at the end") {
    weir::thread_pool pool(2);
    const auto pipeline =
        weir::source(std::views::iota(0, 100)) | weir::pipe([](int n) { return n; }) | weir::sink();
    auto run = pipeline.start(pool);
    static_cast<void>(run.stats());
    CHECK(take_all(run).size() == 100);
    const pipeline_stats whole = run.stats();
#if defined(__linux__)
    REQUIRE(whole.process.has_value());
    const weir::process_stats& p = *whole.process;
    CHECK(p.elapsed > 0ns);
    CHECK(p.user_time >= 0ns);
    CHECK(p.system_time >= 0ns);
    CHECK(p.processors >= 1U);
    CHECK(p.resident > 100'000U);
    CHECK(p.peak_resident >= p.resident);
    CHECK(p.minor_faults.has_value());
    CHECK(p.major_faults.has_value());
    CHECK(p.voluntary_switches.has_value());
    CHECK(p.involuntary_switches.has_value());
#endif
    CHECK(run.stats() == whole);
}

TEST_CASE("on virtual time, and in an unmeasured run, the usage of the process is not measured") {
    virtual_time time;
    auto exact = one_each(1ms, 3).start(time);
    take_all(exact);
    CHECK_FALSE(exact.stats().process.has_value());
    weir::thread_pool pool(1);
    auto bare = (weir::source(std::views::iota(0, 3)) | weir::sink()).start<weir::unmeasured>(pool);
    take_all(bare);
    CHECK_FALSE(bare.stats().process.has_value());
}

TEST_CASE("on a pool laps are reported during the run, one at a time, and none after it") {
    weir::thread_pool pool(2);
    std::atomic<int> laps{0};
    std::atomic<int> at_once{0};
    std::atomic<bool> overlapped{false};
    std::atomic<bool> negative{false};
    // Gives items until three laps were seen.
    const auto until_3 = [&laps]() -> std::optional<int> {
        if (laps >= 3) return std::nullopt;
        return 1;
    };
    {
        auto run = (weir::source(until_3) | weir::pipe([](int n) { return n; }) | weir::sink())
                       .start(pool, {.lap = 1ms, .on_lap = [&](const pipeline_stats& lap) {
                                         if (++at_once != 1) overlapped = true;
                                         if (lap.elapsed <= 0ns) negative = true;
                                         ++laps;
                                         --at_once;
                                     }});
        CHECK_FALSE(take_all(run).empty());
    }
    const int then = laps;
    CHECK(then >= 3);
    CHECK_FALSE(overlapped);
    CHECK_FALSE(negative);
    CHECK(laps == then);
}

TEST_CASE("a deadlock error names the stage that waits, and the run can still be destroyed") {
    items::ledger book(10);
    {
        virtual_time time;
        weir::channel<int> never(1);
        const auto work = [&never](items::counted c) -> task<items::counted> {
            static_cast<void>(co_await never.get());
            co_return c;
        };
        const auto made = [&book](int) { return items::counted(book); };
        auto run = (weir::source({1, 2, 3}) | weir::pipe(made) |
                    weir::pipe(work, {.name = "stuck", .concurrency = 2}) | weir::sink())
                       .start(time);
        const std::string said = items::message_of([&run] { static_cast<void>(run.get()); });
        CHECK(items::contains(said, "(unnamed) is empty, 0 of 1: 2 slots of stage 'stuck' (run_core.test"));
        CHECK(book.alive() > 0);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("a deadlock error does not name the run's own wait for its end, but a stage that sleeps for ever") {
    virtual_time time;
    weir::run_options options;
    options.on_end = [](const pipeline_stats&, const pipeline_stats&) {};
    auto run = (weir::source({1}) | weir::pipe(takes(duration::max())) | weir::sink()).start(time, options);
    const std::string said = items::message_of([&run] { static_cast<void>(run.get()); });
    CHECK(items::contains(said, "\n  a coroutine sleeps for ever"));
    weir::channel<int> never(1);
    const auto waits = [&never](int n) -> task<int> {
        static_cast<void>(co_await never.get());
        co_return n;
    };
    virtual_time other;
    auto stuck = (weir::source({1}) | weir::pipe(waits) | weir::sink()).start(other, options);
    CHECK_FALSE(items::contains(items::message_of([&stuck] { static_cast<void>(stuck.get()); }), "for ever"));
}

namespace {

struct told {
    std::vector<pipeline_stats> laps;
    std::vector<pipeline_stats> rests;
    std::vector<pipeline_stats> wholes;

    weir::run_options of(duration lap, weir::run_options o = {}) {
        o.lap = lap;
        if (lap > 0ns) o.on_lap = [this](const pipeline_stats& one) { laps.push_back(one); };
        o.on_end = [this](const pipeline_stats& rest, const pipeline_stats& all) {
            rests.push_back(rest);
            wholes.push_back(all);
        };
        return o;
    }
};

}  // namespace

TEST_CASE("on_end is called once, with the statistics since the last lap and of the whole run") {
    for (const duration lap : {0ns, duration(10ms), duration(25ms), duration(1s)}) {
        CAPTURE(lap.count());
        virtual_time time;
        told all;
        CHECK(take_all(one_each(7ms, 9).start(time, all.of(lap))).size() == 9);
        REQUIRE(all.wholes.size() == 1);
        CHECK(all.wholes[0].elapsed == 63ms);
        CHECK(all.wholes[0].stages[1].num_tasks == 9);
        pipeline_stats sum = all.rests[0];
        for (const pipeline_stats& one : all.laps) add(sum, one);
        CHECK(sum.elapsed == all.wholes[0].elapsed);
        CHECK(sum.stages[1].num_tasks == 9);
        CHECK(sum.stages[1].busy == all.wholes[0].stages[1].busy);
        CHECK(all.laps.size() == (lap == 10ms ? 6 : lap == 25ms ? 2 : 0));
    }
}

TEST_CASE("on_end is also called for a run that is stopped, fails, or has no consumer") {
    virtual_time time;
    told all;
    {
        auto run = one_each(7ms, 9).start(time, all.of(10ms));
        CHECK(run.get() == 0);
        run.stop();
        CHECK(all.wholes.size() == 1);
        CHECK(all.wholes[0].stages[1].num_tasks == 1);
    }
    CHECK(all.wholes.size() == 1);
    {
        const auto run = one_each(7ms, 9).start(time, all.of(10ms));
    }
    CHECK(all.wholes.size() == 2);
    CHECK(all.wholes[1].elapsed == 0ns);
    auto fails = weir::source({1, 2, 3}) |
                 weir::pipe([](int n) -> int { return n == 2 ? throw std::runtime_error("two") : n; }) |
                 weir::sink();
    CHECK(take_until_failure(fails.start(time, all.of(0ns))).taken == ints{1});
    REQUIRE(all.wholes.size() == 3);
    CHECK(all.wholes[2].stages[1].num_failures == 1);
    weir::thread_pool pool(2);
    CHECK(take_all(one_each(0ms, 9).start(pool, all.of(0ns))).size() == 9);
    REQUIRE(all.wholes.size() == 4);
    CHECK(all.wholes[3].stages[1].num_tasks == 9);
}

TEST_CASE("a lap whose on_lap threw is not reported again") {
    virtual_time time;
    std::vector<pipeline_stats> rests;
    auto run =
        one_each(1s, 10).start(time,
                               {.lap = 4500ms,
                                .on_lap = [](const pipeline_stats&) { throw std::runtime_error("no disk"); },
                                .on_end = [&rests](const pipeline_stats& rest,
                                                   const pipeline_stats&) { rests.push_back(rest); }});
    CHECK_THROWS_AS(run.drain(), weir::pipeline_failure);
    run.stop();
    REQUIRE(rests.size() == 1);
    CHECK(rests[0].elapsed < 4500ms);
    CHECK(rests[0].stages[1].num_tasks <= 1);
}

namespace {

// A pipeline that counts the calls of its functions and of the factories of `per_slot`.
auto counting(std::atomic<int>& calls) {
    const auto pass = [&calls] {
        ++calls;
        return [&calls](int n) {
            ++calls;
            return n;
        };
    };
    return weir::source([&calls, n = 0]() mutable {
               ++calls;
               return n < 100 ? std::optional(n++) : std::nullopt;
           }) |
           weir::pipe(weir::per_slot(pass), {.name = "p", .concurrency = 2}) |
           weir::filter(weir::per_slot([&calls] {
               ++calls;
               return [](int) { return true; };
           })) |
           weir::sink();
}

struct unwilling final : weir::hook {
    void stage_begins(const std::string&) override { throw std::runtime_error("not today"); }
};

}  // namespace

TEST_CASE("after an exception from stage_begins no function and no factory of per_slot is called") {
    std::atomic<int> calls{0};
    virtual_time time;
    weir::thread_pool pool(2);
    for (weir::executor* const ex : std::initializer_list<weir::executor*>{&time, &pool}) {
        auto run = counting(calls).start(*ex, {.hooks = {std::make_shared<unwilling>()}});
        CHECK_THROWS_AS(run.get(), weir::pipeline_failure);
        CHECK(run.outcome() == weir::run_outcome::failed);
    }
    CHECK(calls == 0);
}

TEST_CASE("a run that is started with a stopped token calls no function and no factory of per_slot") {
    std::atomic<int> calls{0};
    weir::stop_source stop;
    stop.request_stop();
    virtual_time time;
    weir::thread_pool pool(2);
    for (int i = 0; i < 300; ++i) {
        auto run = counting(calls).start(i == 0 ? static_cast<weir::executor&>(time) : pool,
                                         {.stop = stop.get_token()});
        CHECK_FALSE(run.get());
        CHECK(run.outcome() == weir::run_outcome::stopped_by_token);
    }
    CHECK(calls == 0);
}

TEST_CASE("after an exception from on_lap, on_end is called when the stages have left") {
    virtual_time time;
    told all;
    weir::run_options o = all.of(10ms);
    o.on_lap = [](const pipeline_stats&) { throw std::runtime_error("lap"); };
    CHECK(take_until_failure(one_each(7ms, 9).start(time, o)).failed != nullptr);
    REQUIRE(all.wholes.size() == 1);
    CHECK(all.wholes[0].elapsed >= 10ms);
}

namespace {

// A run whose first lap ends by an exception, after 10 ms.
template <class Pipeline>
auto start_with_bad_lap(virtual_time& time, const Pipeline& p) {
    return p.start(time,
                   {.lap = 10ms, .on_lap = [](const pipeline_stats&) { throw std::runtime_error("lap"); }});
}

// Takes 100 items at most.
template <class Run>
void check_end_of_endless(Run run) {
    ints taken;
    const auto take = [&] {
        for (auto n = run.get(); n && taken.size() < 100; n = run.get()) taken.push_back(*n);
    };
    CHECK_THROWS_AS(take(), weir::pipeline_failure);
    CHECK(taken == ints{0, 1, 2});
}

}  // namespace

TEST_CASE("an exception from on_lap ends a run whose source puts into its last queue") {
    virtual_time time;
    weir::channel<int> requests(3);
    {
        auto run = start_with_bad_lap(time, weir::source(requests) | weir::sink());
        REQUIRE(requests.try_put(1) == weir::channel_status::success);
        time.run_until(time.now() + 20ms);
        const auto end = take_until_failure(run);
        CHECK(end.taken == ints{1});
        REQUIRE(end.failed != nullptr);
        CHECK(end.failed->stage() == "on_lap");
    }
    weir::channel<int> others(3);
    auto run = start_with_bad_lap(time, weir::source(others) | weir::for_each([](int) {}));
    time.run_until(time.now() + 20ms);
    CHECK_THROWS_AS(run.wait(), weir::pipeline_failure);
}

TEST_CASE("an exception from on_lap ends stages that need no further item to go on") {
    virtual_time time;
    const auto crawl = [](int n, weir::feeder<int>& more) -> task<int> {
        co_await weir::sleep_for(3ms);
        more.add(n + 1);
        co_return n;
    };
    check_end_of_endless(start_with_bad_lap(time, weir::source({0}) | weir::traverse(crawl) | weir::sink()));
    const auto count = [](int n) -> weir::async_generator<int> {
        while (true) {
            co_await weir::sleep_for(3ms);
            co_yield n++;
        }
    };
    check_end_of_endless(start_with_bad_lap(time, weir::source({0}) | weir::flat_map(count) | weir::sink()));
    int calls = 0;
    const auto visit = [&calls](int n, weir::feeder<int>& more) -> task<> {
        co_await weir::sleep_for(3ms);
        if (++calls < 100) more.add(n + 1);
    };
    auto run = start_with_bad_lap(time, weir::source({0}) | weir::traverse_each(visit));
    CHECK_THROWS_AS(run.wait(), weir::pipeline_failure);
    CHECK(calls == 3);
}

TEST_CASE("an exception from on_end reaches a later wait or the failure sink, however the run has ended") {
    static std::string heard;
    const auto before = weir::set_failure_sink(
        [](std::string_view, const weir::pipeline_failure& what) noexcept { heard += what.what(); });
    virtual_time time;
    const weir::run_options options{.on_end = [](const pipeline_stats&, const pipeline_stats&) {
        throw std::runtime_error("disk full");
    }};
    const auto told = [](const auto& use) {
        heard.clear();
        return items::message_of(use) + heard;
    };
    const std::string expected = told([&] {
        auto run = (weir::source({1}) | weir::for_each([](int) {})).start(time, options);
        time.run();
        static_cast<void>(run.wait());
    });
    CHECK(expected.find("disk full") != std::string::npos);
    CHECK(told([&] {
              auto run = (weir::source({1}) | weir::for_each([](int) {})).start(time, options);
              CHECK(run.wait().items == 1);
          }) == expected);
    CHECK(told([&] {
              auto run = (weir::source({1}) | weir::sink()).start(time, options);
              CHECK(take_all(run).size() == 1);
          }) == expected);
    CHECK(told([&] {
              auto run = (weir::source(std::views::iota(0)) | weir::sink()).start(time, options);
              CHECK(run.get());
          }) == expected);
    weir::set_failure_sink(before);
}

TEST_CASE("a wait for the own run in on_end throws, which is a failure of the run") {
    static std::string heard;
    const auto before = weir::set_failure_sink(
        [](std::string_view, const weir::pipeline_failure& what) noexcept { heard = what.what(); });
    {
        virtual_time time;
        std::optional<weir::run<int>> run;
        weir::run_options o;
        o.on_end = [&run](const pipeline_stats&, const pipeline_stats&) { run->stop(); };
        run.emplace(one_each(1ms, 1).start(time, o));
        time.run();
        run.reset();
    }
    weir::set_failure_sink(before);
    CHECK(heard.find("on_end can't wait for the end of its own run") != std::string::npos);
}

TEST_CASE(
    "statistics stand still when the consumer has seen a failure and the last stage has ended, in any "
    "order") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        virtual_time time(seed);
        const auto slow = [](int x) -> task<int> {
            co_await weir::sleep_for(x == 4 ? 9s : 0s);
            co_return x;
        };
        const auto fails = [](int x) -> task<int> {
            co_await weir::sleep_for(1s);
            if (x == 3) throw std::runtime_error("three");
            co_return x;
        };
        const auto numbers = weir::source(std::views::iota(0, 9), {.name = "numbers"});
        auto late = (numbers | weir::pipe(slow) | weir::pipe(fails) | weir::sink()).start(time);
        CHECK_THROWS_AS(late.drain(), weir::pipeline_failure);
        const duration seen = late.stats().elapsed;
        CHECK(seen == 4s);
        time.run_until(time_point(5s));
        CHECK(late.stats().elapsed == 5s);  // the slow one is at work
        time.run_until(time_point(100s));
        CHECK(late.stats().elapsed == 10s);

        // Here the stage before waits to put, and hears of it in the same instant.
        auto at_once = (numbers | weir::pipe(fails) | weir::sink()).start(time);
        CHECK_THROWS_AS(at_once.drain(), weir::pipeline_failure);
        time.run_until(time_point(200s));
        CHECK(at_once.stats().elapsed == 4s);
    }
}
