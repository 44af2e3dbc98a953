#include <weir/executor/loop_turns.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/stats.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ranges>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

using namespace std::chrono_literals;
using weir::sync_wait;
using weir::task;

namespace {

// What runs on the calling thread, below each other.
struct depth {
    static int& here() {
        static thread_local int n = 0;
        return n;
    }
    depth() { ++here(); }
    ~depth() { --here(); }
};

task<int> one() { co_return 1; }
// How deep it and what it waits for were at most.
task<int> waits(weir::executor& loop, int levels) {
    co_await weir::schedule(loop);
    const depth mine;
    int deepest = depth::here();
    if (levels > 0) deepest = std::max(deepest, sync_wait(loop, waits(loop, levels - 1)));
    co_return deepest;
}
task<> is_set(bool& flag) {
    while (!flag) co_await weir::sleep_for(1us);
}
task<> sets_and_waits(weir::executor& loop, bool& sets, bool& waits_for) {
    sync_wait(loop, one());
    sets = true;
    sync_wait(loop, is_set(waits_for));
    co_return;
}

}  // namespace

TEST_CASE("nothing runs on top of a coroutine that waits on the thread of its loop") {
    const auto check = [](weir::executor& loop) {
        CHECK(sync_wait(loop, waits(loop, 5)) == 1);
        CHECK(sync_wait(loop, weir::when_all(waits(loop, 2), waits(loop, 3), waits(loop, 0))) ==
              std::tuple(1, 1, 1));
    };
    weir::virtual_time time;
    check(time);
    weir::virtual_time shuffled(5);
    check(shuffled);
    weir::run_loop loop;
    check(loop);
}

TEST_CASE("coroutines of one loop that wait for each other by sync_wait all go on") {
    const auto check = [](weir::executor& loop) {
        bool a = false, b = false, c = false;
        sync_wait(loop, weir::when_all(sets_and_waits(loop, a, b), sets_and_waits(loop, b, c),
                                       sets_and_waits(loop, c, a)));
        CHECK((a && b && c));
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        weir::virtual_time time(seed);
        check(time);
    }
    for (int i = 0; i < 20; ++i) {
        weir::run_loop loop;
        check(loop);
    }
}

TEST_CASE("the time that slots spend in sync_wait on virtual time is exact for each slot") {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        weir::virtual_time time(seed);
        const auto f = [&time](int n) {
            sync_wait(time, weir::sleep_for(n == 0 ? 5ms : 500ms));
            return n;
        };
        auto run = (weir::source(std::views::iota(0, 2)) | weir::pipe(f, {.name = "f", .concurrency = 2}) |
                    weir::sink())
                       .start(time);
        std::vector<int> got;
        for (const int n : run) got.push_back(n);
        CHECK(got == std::vector<int>{0, 1});
        const weir::stage_stats f_stats = run.stats().stages[1];
        CHECK(f_stats.num_tasks == 2);
        CHECK(f_stats.busy == 505ms);
        weir::duration ran{}, all{};
        for (const weir::slot_times& each : f_stats.per_slot) {
            ran += each.run;
            all += each.total();
        }
        CHECK(ran == 505ms);
        CHECK(all == 1000ms);
    }
}

TEST_CASE("a wait with a limit in a turn ends at that instant of virtual time") {
    weir::virtual_time time;
    weir::channel<int> never(1, time);
    const auto body = [&]() -> task<weir::time_point> {
        CHECK(never.blocking_get(3ms).status() == weir::channel_status::timed_out);
        co_return time.now();
    };
    const auto slept = []() -> task<> { co_await weir::sleep_for(10ms); };
    const auto [at, nothing] = sync_wait(time, weir::when_all(body(), slept()));
    CHECK(at == weir::time_point(3ms));
    CHECK(time.now() == weir::time_point(10ms));
}

TEST_CASE("in a deadlock, the coroutine that blocked last gets the error, and then the next one") {
    weir::virtual_time time;
    weir::channel<int> never(1, time, "never");
    std::vector<int> heard;
    const auto body = [&](int name) -> task<> {
        try {
            static_cast<void>(never.blocking_get());
        } catch (const weir::deadlock_error& e) {
            heard.push_back(name);
            CHECK(std::string(e.what()).find("weir: deadlock: nothing can run") == 0);
        }
        co_return;
    };
    sync_wait(time, weir::when_all(body(1), body(2)));
    CHECK(heard == std::vector<int>{2, 1});
}

TEST_CASE("virtual time is run, and run until an instant, past coroutines that block") {
    weir::virtual_time time;
    int ended = 0;
    const auto body = [&]() -> task<> {
        sync_wait(time, weir::sleep_for(5ms));
        ++ended;
        co_return;
    };
    weir::task_group group(time);
    group.spawn(body());
    group.spawn(body());
    time.run_until(weir::time_point(3ms));  // comes back when the one on this thread has gone on
    CHECK(time.now() == weir::time_point(5ms));
    CHECK(ended >= 1);
    time.run();
    CHECK(ended == 2);
    CHECK(time.now() == weir::time_point(5ms));
    sync_wait(time, group.join());
}

TEST_CASE("a coroutine that blocks in a loop until another thread comes lets the loop go on") {
    weir::run_loop loop;
    weir::thread_pool pool(1);
    for (int i = 0; i < 50; ++i) {
        std::atomic<bool> seen = false;
        const auto elsewhere = [&]() -> task<int> {
            while (!seen) co_await weir::yield();
            co_return 3;
        };
        const auto blocks = [&]() -> task<int> { co_return sync_wait(pool, elsewhere()); };
        const auto goes_on = [&]() -> task<> {
            co_await weir::yield();
            seen = true;
        };
        const auto [got, nothing] = sync_wait(loop, weir::when_all(blocks(), goes_on()));
        CHECK(got == 3);
    }
}
