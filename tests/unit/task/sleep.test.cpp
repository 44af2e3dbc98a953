#include <weir/task/sleep.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using weir::duration;
using weir::sleep_for;
using weir::sleep_until;
using weir::sync_wait;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using weir::when_all;
using namespace std::chrono_literals;

namespace {

const weir::time_point t0{};

task<> note_after(weir::duration d, std::vector<int>& log, int name) {
    co_await sleep_for(d);
    log.push_back(name);
}

task<> note_at(weir::time_point t, weir::timer_order order, int yields, std::vector<int>& log, int name) {
    co_await sleep_until(t, {}, order);
    for (int i = 0; i < yields; ++i) co_await weir::yield();
    log.push_back(name);
}

task<bool> sleep(weir::duration d, weir::stop_token stop) {
    const bool slept = co_await sleep_for(d, std::move(stop));
    co_return slept;
}

task<> request_after(weir::duration d, weir::stop_source& source) {
    co_await sleep_for(d);
    source.request_stop();
}

actor sleep_once(weir::duration d, weir::stop_token stop, int& done) {
    co_await sleep_for(d, std::move(stop));
    ++done;
}

}  // namespace

TEST_CASE("a sleep ends when its time has passed, neither before nor later") {
    virtual_time time;
    CHECK(sync_wait(time, sleep_for(3s)));
    CHECK(time.now() == t0 + 3s);
    CHECK(sync_wait(time, sleep_until(t0 + 10s)));
    CHECK(time.now() == t0 + 10s);
    CHECK(sync_wait(time, sleep_until(t0 + 5s)));  // is over
    CHECK(time.now() == t0 + 10s);
    CHECK(sync_wait(time, sleep_for(1ns)));
    CHECK(time.now() == t0 + 10s + 1ns);
}

TEST_CASE("sleeps wake in the order of their deadlines, and of their beginning where those are equal") {
    virtual_time time;
    std::vector<int> log;
    sync_wait(time, when_all(note_after(2s, log, 3), note_after(1s, log, 1), note_after(2s, log, 4),
                             note_after(1s, log, 2), note_after(3s, log, 5)));
    CHECK(log == std::vector<int>{1, 2, 3, 4, 5});
}

TEST_CASE("a sleep of zero or less lets other ready coroutines run, and takes no time") {
    struct body {
        static task<> step(weir::duration d, std::vector<int>& log, int name, bool& slept) {
            log.push_back(name);
            slept = co_await sleep_for(d);
            log.push_back(10 * name);
            co_await sleep_until(weir::time_point::min());
            log.push_back(100 * name);
            co_await weir::yield();
            log.push_back(1'000 * name);
        }
    };
    virtual_time time;
    std::vector<int> log;
    bool first = false, second = false, third = false;
    sync_wait(time, when_all(body::step(0s, log, 1, first), body::step(-1h, log, 2, second),
                             body::step(weir::duration::min(), log, 3, third)));
    CHECK(log == std::vector<int>{1, 2, 3, 10, 20, 30, 100, 200, 300, 1'000, 2'000, 3'000});
    CHECK(first);
    CHECK(second);
    CHECK(third);
    CHECK(time.now() == t0);
}

TEST_CASE("a sleep before_all wakes before everything else that is due at the same instant") {
    virtual_time time;
    std::vector<int> log;
    const weir::time_point t = t0 + 5s;
    using order = weir::timer_order;
    sync_wait(time, when_all(note_at(t, order::normal, 0, log, 3), note_at(t, order::before_all, 0, log, 1),
                             note_at(t, order::normal, 0, log, 4), note_at(t, order::before_all, 5, log, 2),
                             note_at(t - 1ns, order::normal, 0, log, 0)));
    CHECK(log == std::vector<int>{0, 1, 2, 3, 4});
    // At an instant that has come already it waits for what is ready, and no longer.
    log.clear();
    sync_wait(time,
              when_all(note_at(t, order::before_all, 0, log, 2), note_at(t + 1ns, order::normal, 0, log, 3),
                       note_at(t, order::normal, 2, log, 1)));
    CHECK(log == std::vector<int>{1, 2, 3});
}

TEST_CASE("a stop ends a sleep at once, whenever it comes") {
    virtual_time time;
    weir::stop_source source;
    SECTION("before the sleep") {
        source.request_stop();
        CHECK_FALSE(sync_wait(time, sleep(1h, source.get_token())));
        CHECK(time.now() == t0);
    }
    SECTION("during the sleep") {
        const auto [slept, nothing] =
            sync_wait(time, when_all(sleep(1h, source.get_token()), request_after(5s, source)));
        static_cast<void>(nothing);
        CHECK_FALSE(slept);
        CHECK(time.now() == t0 + 5s);
    }
    SECTION("after the sleep") {
        CHECK(sync_wait(time, sleep(5s, source.get_token())));
        source.request_stop();
        CHECK(time.now() == t0 + 5s);
    }
    SECTION("at the instant at which it ends, in either order") {
        weir::stop_source other;
        const auto results =
            sync_wait(time, when_all(sleep(5s, source.get_token()), request_after(5s, source),
                                     request_after(5s, other), sleep(5s, other.get_token())));
        CHECK(std::get<0>(results));
        CHECK(std::get<3>(results));  // both timers have fired before anything runs
    }
    SECTION("never, since it has no source any more") {
        weir::stop_token orphan = source.get_token();
        source = weir::stop_source();
        CHECK(sync_wait(time, sleep(5s, std::move(orphan))));
        CHECK(time.now() == t0 + 5s);
    }
}

TEST_CASE("one stop ends many sleeps") {
    virtual_time time(5);
    weir::stop_source source;
    std::vector<task<bool>> sleeps;
    for (int i = 1; i <= 100; ++i) sleeps.push_back(sleep(weir::duration(1s) * i, source.get_token()));
    struct body {
        static task<std::vector<bool>> run(std::vector<task<bool>> tasks, weir::stop_source& s) {
            std::vector<task<bool>> all = std::move(tasks);
            all.push_back(stop(s));
            const std::vector<bool> results = co_await when_all(std::move(all));
            co_return results;
        }
        static task<bool> stop(weir::stop_source& s) {
            co_await request_after(50s + 1ns, s);
            co_return true;
        }
    };
    const std::vector<bool> results = sync_wait(time, body::run(std::move(sleeps), source));
    for (std::size_t i = 0; i < 100; ++i) CHECK(results[i] == (i < 50));
    CHECK(time.now() == t0 + 50s + 1ns);
}

TEST_CASE("a sleep knows when it ended: at its deadline, when it was stopped, or at once") {
    struct body {
        static task<std::int64_t> end_of(weir::duration d, weir::stop_token stop) {
            auto operation = sleep_for(d, std::move(stop));
            co_await operation;
            co_return operation.ready_at();
        }
    };
    virtual_time time;
    time.run_until(t0 + 1s);
    weir::stop_source source;
    const auto ends = sync_wait(time, when_all(body::end_of(2s, {}), body::end_of(7s, source.get_token()),
                                               body::end_of(0s, {}), request_after(4s, source)));
    CHECK(std::get<0>(ends) == 3'000'000'000);
    CHECK(std::get<1>(ends) == 5'000'000'000);
    CHECK(std::get<2>(ends) == 1'000'000'000);
}

TEST_CASE("a sleep that is too long for the clock never ends") {
    virtual_time time;
    weir::stop_source source;
    time.run_until(t0 + 1h);
    CHECK_FALSE(std::get<0>(sync_wait(time, when_all(sleep(weir::duration::max(), source.get_token()),
                                                     request_after(1h, source)))));
    CHECK(time.now() == t0 + 2h);
}

TEST_CASE("a sleeping coroutine that is destroyed takes its timer with it") {
    int done = 0;
    weir::stop_source source;
    virtual_time time;
    {
        actor first = sleep_once(1s, {}, done);
        actor second = sleep_once(2s, source.get_token(), done);
        actor third = sleep_once(3s, {}, done);
        first.start(time);
        second.start(time);
        third.start(time);
        time.run_until(t0 + 1ns);
        CHECK(done == 0);
        {
            const actor gone = std::move(second);
        }
        source.request_stop();  // asks nobody
        time.run_until(t0 + 2s);
        CHECK(done == 1);
    }
    time.run();
    CHECK(done == 1);
    CHECK(time.now() == t0 + 2s);

    weir::run_loop loop;
    weir::detail::parker unused;
    {
        actor other = sleep_once(1h, {}, done);
        other.start(loop);
        CHECK(loop.drive(unused, t0));
    }
    CHECK(sync_wait(loop, sleep_for(1ns)));
    CHECK(done == 1);
}

TEST_CASE("a deadlock of sleeps that never end doesn't affect later sleeps") {
    virtual_time time;
    CHECK_THROWS_AS(sync_wait(time, sleep_for(weir::duration::max())), weir::deadlock_error);
    CHECK_THROWS_AS(sync_wait(time, when_all(sleep_for(weir::duration::max()), sleep_for(1s))),
                    weir::deadlock_error);
    CHECK(time.now() == t0 + 1s);
    CHECK(sync_wait(time, sleep_for(1s)));
    CHECK(time.now() == t0 + 2s);
}

TEST_CASE(
    "a coroutine of another library sleeps on its executor, or without one on a thread of the library") {
    int done = 0;
    struct foreign {
        struct promise_type {
            foreign get_return_object() const noexcept { return {}; }
            std::suspend_never initial_suspend() const noexcept { return {}; }
            std::suspend_never final_suspend() const noexcept { return {}; }
            void return_void() const noexcept {}
            void unhandled_exception() const noexcept { std::terminate(); }
        };
        static foreign sleep_anywhere(weir::executor*& where, weir::detail::parker& slept) {
            co_await sleep_for(1ns);
            co_await weir::yield();
            where = weir::detail::current_executor();
            slept.set();
        }
        static foreign sleep_there(weir::executor& ex, int& slept) {
            co_await weir::schedule(ex);
            co_await sleep_for(1s);
            ++slept;
        }
    };
    weir::executor* where = nullptr;
    weir::detail::parker slept;
    foreign::sleep_anywhere(where, slept);
    while (!slept.wait()) {
    }
    CHECK(where == &weir::detail::foreign_run_loop::get());
    virtual_time time;
    foreign::sleep_there(time, done);
    time.run();
    CHECK(done == 1);
    CHECK(time.now() == t0 + 1s);
}

namespace {

struct ring_at {
    weir::executor* home;
    std::vector<time_point>* rung;
    void operator()() const { rung->push_back(home->now()); }
};
using bell = weir::detail::delayed_action<ring_at>;

// Starts a delayed action, cancels it after some time, and returns when it ran.
std::vector<time_point> rings(duration after, duration off_after, std::uint64_t seed = 0) {
    virtual_time time(seed);
    std::vector<time_point> rung;
    const auto use = [&]() -> task<> {
        bell a(time, after, ring_at{&time, &rung});
        if (off_after > 0ns) co_await weir::sleep_for(off_after);
        co_await a.cancel();
        const time_point off = time.now();
        co_await a.cancel();
        if (time.now() != off) throw std::runtime_error("it takes time");
        if (off != time_point(off_after)) throw std::runtime_error("it is off too late");
    };
    weir::sync_wait(time, use());
    const time_point end = time.now();
    time.run();
    if (time.now() != end) throw std::runtime_error("it is still there");
    return rung;
}

}  // namespace

TEST_CASE("a delayed action runs once, when its time has passed") {
    CHECK(rings(10ms, 30ms) == std::vector{time_point(10ms)});
    CHECK(rings(0ms, 30ms) == std::vector{time_point(0ms)});
    CHECK(rings(-5ms, 30ms) == std::vector{time_point(0ms)});
}

TEST_CASE("a delayed action that is cancelled in time never runs, and leaves no timer") {
    CHECK(rings(10ms, 9ms).empty());
    CHECK(rings(1h, 1ns).empty());
    CHECK(rings(duration::max(), 1h).empty());
}

TEST_CASE("a delayed action can be cancelled at once, or at the instant at which it runs") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CHECK(rings(10ms, 0ms, seed).empty());
        CHECK(rings(10ms, 10ms, seed).size() <= 1);
    }
}

TEST_CASE("a thread still knows for whom it works after it has cancelled a delayed action that had ended") {
    using weir::detail::trampoline;
    virtual_time time;
    std::vector<time_point> rung;
    const int owner = 0;
    const auto use = [&]() -> task<> {
        bell a(time, 1ms, ring_at{&time, &rung});
        co_await weir::sleep_for(2ms);
        trampoline::set_work_here(&owner);
        co_await a.cancel();
        CHECK(trampoline::work_here() == &owner);
    };
    weir::sync_wait(time, use());
    CHECK(rung == std::vector{time_point(1ms)});
}

TEST_CASE("delayed actions of several coroutines are independent") {
    virtual_time time;
    std::vector<time_point> rung;
    const auto use = [&](duration after, duration off) -> task<> {
        bell a(time, after, ring_at{&time, &rung});
        co_await weir::sleep_for(off);
        co_await a.cancel();
    };
    weir::sync_wait(time, weir::when_all(use(3ms, 5ms), use(1ms, 1s), use(9ms, 8ms)));
    CHECK(rung == std::vector{time_point(1ms), time_point(3ms)});
}

TEST_CASE("on a pool a delayed action is cancelled on whichever thread its coroutine runs") {
    weir::thread_pool pool(2);
    struct count {
        std::atomic<int>* n;
        void operator()() const { ++*n; }
    };
    std::atomic<int> rung{0};
    const auto use = [&](int n) -> task<int> {
        int off = 0;
        for (int i = 0; i < 300; ++i) {
            weir::detail::delayed_action<count> a(pool, duration(n * i % 7 * 1000), count{&rung});
            if (i % 3 == 0) co_await weir::yield();
            if (i % 5 == 0) co_await weir::sleep_for(duration(i * 100));
            co_await a.cancel();
            ++off;
        }
        co_return off;
    };
    const auto [a, b, c] = weir::sync_wait(pool, weir::when_all(use(0), use(1), use(2)));
    CHECK(a + b + c == 900);
    CHECK(rung <= 900);
    CHECK(rung > 0);
}
