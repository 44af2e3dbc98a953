#include <weir/channel/timed_operations.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"
#include "support/timed.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/select.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using timed::box;
using timed::put_at;
using timed::stop_at;
using timed::t0;
using weir::channel;
using weir::channel_status;
using weir::sync_wait;
using weir::task;
using weir::virtual_time;
using weir::when_all;

namespace {

template <class Policy>
actor get_in(channel<int, Policy>& c, weir::duration timeout, std::optional<channel_status>& how, int& got) {
    const auto it = co_await c.get_for(timeout);
    how = it.status();
    if (it) got = *it;
}

}  // namespace

TEST_CASE("a get with a time limit gives an item in time, else timed_out or closed") {
    virtual_time time;
    channel<int> c(2, time);
    const auto gets = [&]() -> task<> {
        const auto early = co_await c.get_for(10ms);
        CHECK(early.status() == channel_status::timed_out);
        CHECK(time.now() == t0 + 10ms);
        const auto second = co_await c.get_for(10ms);
        CHECK(second.has_value());
        CHECK(*second == 7);
        CHECK(time.now() == t0 + 15ms);
        const auto until = co_await c.get_until(t0 + 18ms);
        CHECK(until.status() == channel_status::timed_out);
        CHECK(time.now() == t0 + 18ms);
        const auto closed = co_await c.get_for(10ms);
        CHECK(closed.status() == channel_status::closed);
        CHECK(time.now() == t0 + 20ms);
        const auto again = co_await c.get_for(10ms);
        CHECK(again.status() == channel_status::closed);
        CHECK(time.now() == t0 + 20ms);
    };
    const auto closes = [&]() -> task<> {
        co_await weir::sleep_for(20ms);
        c.close();
    };
    sync_wait(time, when_all(gets(), put_at(c, 15ms, 7), closes()));
    const weir::channel_stats s = c.stats();
    CHECK(s.num_put == 1);
    CHECK(s.num_get == 1);
    CHECK(s.get_wait == 20ms);
    CHECK(s.get_blocked == 20ms);
    CHECK(s.empty == 20ms);
}

TEST_CASE("a put with a time-out goes in when there is room in time, else the item stays with the caller") {
    virtual_time time;
    channel<box> c(1, time);
    const auto puts = [&]() -> task<> {
        box one = std::make_unique<int>(1);
        const channel_status first = co_await c.put_for(std::move(one), 5ms);
        CHECK(first == channel_status::success);
        CHECK(one == nullptr);
        one = std::make_unique<int>(2);
        const channel_status second = co_await c.put_for(std::move(one), 5ms);
        CHECK(second == channel_status::timed_out);
        CHECK(time.now() == t0 + 5ms);
        CHECK(one != nullptr);
        const channel_status third = co_await c.put_until(std::move(one), t0 + 15ms);
        CHECK(third == channel_status::success);
        CHECK(time.now() == t0 + 10ms);
        one = std::make_unique<int>(3);
        const channel_status fourth = co_await c.put_until(std::move(one), t0 + 30ms);
        CHECK(fourth == channel_status::closed);
        CHECK(time.now() == t0 + 20ms);
        CHECK(*one == 3);
    };
    const auto gets = [&]() -> task<> {
        co_await weir::sleep_for(10ms);
        const auto one = c.try_get();
        CHECK(**one == 1);
        co_await weir::sleep_for(10ms);
        c.close();
    };
    sync_wait(time, when_all(puts(), gets()));
    CHECK(**c.try_get() == 2);
    const weir::channel_stats s = c.stats();
    CHECK(s.num_put == 2);
    CHECK(s.num_get == 2);
    CHECK(s.put_wait == 20ms);
}

TEST_CASE("a timed put copies an lvalue") {
    virtual_time time;
    channel<std::string> c(1, time);
    const auto puts = [&]() -> task<> {
        const std::string name(40, 'x');
        const channel_status first = co_await c.put_for(name, 1ms);
        CHECK(first == channel_status::success);
        const channel_status second = co_await c.put_until(name, t0 + 1ms);
        CHECK(second == channel_status::timed_out);
        CHECK(name == std::string(40, 'x'));
    };
    sync_wait(time, puts());
    CHECK(*c.try_get() == std::string(40, 'x'));
}

TEST_CASE("with a duration of 0 or less a timed operation does not wait") {
    virtual_time time;
    channel<int> c(1, time);
    const auto looks = [&]() -> task<> {
        for (const weir::duration none : {weir::duration(0), weir::duration(-1), weir::duration::min()}) {
            const auto nothing = co_await c.get_for(none);
            CHECK(nothing.status() == channel_status::timed_out);
            const channel_status in = co_await c.put_for(1, none);
            CHECK(in == channel_status::success);
            const channel_status full = co_await c.put_for(2, none);
            CHECK(full == channel_status::timed_out);
            const auto one = co_await c.get_for(none);
            CHECK(one.value() == 1);
        }
        const auto past = co_await c.get_until(t0 - 1s);
        CHECK(past.status() == channel_status::timed_out);
        const auto now = co_await c.get_until(time.now());
        CHECK(now.status() == channel_status::timed_out);
    };
    sync_wait(time, looks());
    CHECK(time.now() == t0);
    CHECK(c.stats().get_wait == 0ns);
}

TEST_CASE("with the longest duration a timed operation has no limit") {
    virtual_time time;
    channel<int> c(1, time);
    const auto waits = [&]() -> task<> {
        const auto got = co_await c.get_for(weir::duration::max());
        CHECK(got.value() == 1);
        const auto more = co_await c.get_until(weir::time_point::max());
        CHECK(more.value() == 2);
        static_cast<void>(co_await c.get_for(weir::duration::max()));
    };
    CHECK_THROWS_AS(sync_wait(time, when_all(waits(), put_at(c, 1h, 1), put_at(c, 2h, 2))),
                    weir::deadlock_error);
    CHECK(time.now() == t0 + 2h);
}

TEST_CASE("a stop ends a timed wait with the status stopped, and no item is lost") {
    virtual_time time;
    channel<box> c(1, time);
    weir::stop_source stop;
    const auto waits = [&]() -> task<> {
        const auto first = co_await c.get_for(1ms, stop.get_token());
        CHECK(first.status() == channel_status::timed_out);
        const auto none = co_await c.get_for(1h, stop.get_token());
        CHECK(none.status() == channel_status::stopped);
        CHECK(time.now() == t0 + 5ms);
        box item = std::make_unique<int>(1);
        const channel_status in = co_await c.put_for(std::move(item), 1h, stop.get_token());
        CHECK(in == channel_status::success);  // it needn't wait
        item = std::make_unique<int>(2);
        const channel_status full = co_await c.put_until(std::move(item), t0 + 1h, stop.get_token());
        CHECK(full == channel_status::stopped);
        CHECK(*item == 2);
        const auto one = co_await c.get_until(weir::time_point::max(), stop.get_token());
        CHECK(**one == 1);
        const auto empty = co_await c.get_until(weir::time_point::max(), stop.get_token());
        CHECK(empty.status() == channel_status::stopped);
        const auto looks = co_await c.get_for(0ms, stop.get_token());
        CHECK(looks.status() == channel_status::stopped);
        const auto late = co_await c.get_until(t0 + 1ms, stop.get_token());
        CHECK(late.status() == channel_status::stopped);
        CHECK(time.now() == t0 + 5ms);
    };
    sync_wait(time, when_all(waits(), stop_at(stop, 5ms)));
    CHECK(std::string(to_string(channel_status::stopped)) == "stopped");
    CHECK(c.try_put(std::make_unique<int>(3)) == channel_status::success);
    CHECK(c.size() == 1);
}

TEST_CASE("a loop of gets whose limits are over sees the end of the run") {
    virtual_time time;
    channel<int> control(1, time);
    std::function<void()> stop;
    int ticks = 0;
    const auto work = [&](int n) -> task<int> {
        for (;;) {
            const auto command = co_await control.get_until(t0);
            if (command) co_return n;
            if (++ticks == 5) stop();
            if (ticks == 100) throw std::runtime_error("no get has seen the stop");
        }
    };
    auto run =
        (weir::source(std::views::iota(0, 1)) | weir::pipe(work) | weir::for_each([](int) {})).start(time);
    stop = [&run] { run.request_stop(); };
    run.wait();
    run.stop();  // waits for the function, too
    CHECK(ticks == 5);
}

TEST_CASE("a select, or a get or put with a time limit, refuses to be awaited a second time") {
    virtual_time time;
    channel<int> c(1, time);
    const auto is_refused = [](auto& operation) -> task<bool> {
        try {
            static_cast<void>(co_await operation);
        } catch (const std::logic_error& error) {
            co_return std::string(error.what()).find("can be awaited once") != std::string::npos;
        }
        co_return false;
    };
    const auto awaits = [&]() -> task<> {
        auto late = c.get_for(1ms);
        const auto none = co_await late;
        CHECK(none.status() == channel_status::timed_out);
        const bool late_is = co_await is_refused(late);
        CHECK(late_is);
        auto looks = c.get_for(0ms);
        const auto nothing = co_await looks;
        CHECK(nothing.status() == channel_status::timed_out);
        const bool looks_is = co_await is_refused(looks);
        CHECK(looks_is);
        auto put = c.put_for(1, 1ms);
        const channel_status in = co_await put;
        CHECK(in == channel_status::success);
        const bool put_is = co_await is_refused(put);
        CHECK(put_is);
        auto get = c.get_for(1ms);
        const auto one = co_await get;
        CHECK(*one == 1);
        const bool get_is = co_await is_refused(get);
        CHECK(get_is);
        auto either = weir::select(weir::on_get(c), weir::after(1ms));
        const auto done = co_await either;
        CHECK(done.index() == 1);
        const bool either_is = co_await is_refused(either);
        CHECK(either_is);
    };
    sync_wait(time, awaits());
    CHECK(c.size() == 0);
}

TEST_CASE("a stop ends a timed put of a copy, too") {
    virtual_time time;
    channel<std::string> c(1, time);
    static_cast<void>(c.try_put("full"));
    weir::stop_source stop;
    const auto puts = [&]() -> task<> {
        const std::string name = "mine";
        const channel_status first = co_await c.put_for(name, 1h, stop.get_token());
        CHECK(first == channel_status::stopped);
        const channel_status second = co_await c.put_until(name, t0 + 1h, stop.get_token());
        CHECK(second == channel_status::stopped);
        CHECK(name == "mine");
    };
    sync_wait(time, when_all(puts(), stop_at(stop, 5ms)));
    CHECK(time.now() == t0 + 5ms);
    CHECK(c.size() == 1);
}

TEST_CASE("of an item, a stop and the end of the time at one instant one wins, and the item is not lost") {
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        virtual_time time(seed);
        channel<int> c(1, time);
        weir::stop_source stop;
        std::optional<int> got;
        const auto gets = [&]() -> task<> {
            const auto it = co_await c.get_for(10ms, stop.get_token());
            if (it) got = *it;
        };
        sync_wait(time, when_all(gets(), put_at(c, 10ms, 1), stop_at(stop, 10ms)));
        CHECK(got.has_value() != (c.size() == 1));
        CHECK(time.now() == t0 + 10ms);
    }
}

TEST_CASE("an item that comes at the instant of the time-out is delivered or stays inside") {
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        virtual_time time(seed);
        channel<int> c(1, time);
        std::optional<int> got;
        const auto gets = [&]() -> task<> {
            const auto it = co_await c.get_for(10ms);
            if (it) got = *it;
        };
        sync_wait(time, when_all(gets(), put_at(c, 10ms, 1)));
        CHECK(got.has_value() != (c.size() == 1));
        CHECK(c.stats().num_put == 1);
    }
}

TEST_CASE("a waiter behind an operation whose time is over is served") {
    virtual_time time;
    channel<int> c(1, time);
    std::vector<int> order;
    const auto gets = [&](weir::duration d, int who) -> task<> {
        const auto it = co_await c.get_for(d);
        if (it) order.push_back(who * 10 + *it);
    };
    sync_wait(time, when_all(gets(1ms, 1), gets(9ms, 2), gets(9ms, 3), put_at(c, 5ms, 4), put_at(c, 6ms, 5)));
    CHECK(order == std::vector{24, 35});
}

TEST_CASE("a large item whose time is over admits the puts behind it") {
    virtual_time time;
    channel<std::string> c(4, time);
    c.set_max_bytes(100);
    const auto puts = [&](std::size_t bytes, weir::duration d, channel_status expected) -> task<> {
        std::string item(bytes, 'x');
        const channel_status how = co_await c.put_for(std::move(item), d);
        CHECK(how == expected);
    };
    sync_wait(time, when_all(puts(60, 1s, channel_status::success), puts(80, 5ms, channel_status::timed_out),
                             puts(20, 1s, channel_status::success)));
    CHECK(time.now() == t0 + 5ms);
    CHECK(c.size() == 2);
}

TEST_CASE("a stop of the run ends a timed wait of a stage's function at once") {
    virtual_time time;
    channel<int> c(1, time);
    int ended = 0;
    const auto gets = [&](int n) -> task<int> {
        const auto it = co_await c.get_for(1h);
        ++ended;
        co_return it ? *it : n;
    };
    {
        auto run = (weir::source({1, 2}) | weir::pipe(gets, {.concurrency = 2}) | weir::sink()).start(time);
        time.run_until(t0 + 1s);
        run.stop();
        CHECK(run.stats().stages[1].num_failures == 0);
    }
    CHECK(time.now() == t0 + 1s);
    CHECK(ended == 0);
    CHECK(c.try_put(7) == channel_status::success);
    CHECK(c.size() == 1);
}

TEST_CASE("the time of a timed wait in a stage's function is awaited, not run") {
    virtual_time time;
    channel<int> c(1, time);
    const auto gets = [&](int n) -> task<int> {
        const auto it = co_await c.get_for(5ms);
        CHECK(it.status() == channel_status::timed_out);
        co_return n;
    };
    auto run = (weir::source({1, 2}) | weir::pipe(gets) | weir::sink()).start(time);
    for (int n : run) static_cast<void>(n);
    const auto stats = run.stats();
    CHECK(stats.stages[1].times().await == 10ms);
    CHECK(stats.stages[1].times().run == 0ns);
    CHECK(stats.stages[1].times().runnable == 0ns);
}

TEST_CASE("a frame that is destroyed while it waits for some time leaves the line and the timers") {
    virtual_time time;
    channel<int> c(1, time);
    std::optional<channel_status> how;
    int got = 0;
    {
        actor a = get_in(c, 5ms, how, got);
        a.start(time);
        time.run_until(t0);
        CHECK_FALSE(a.ended());
    }
    CHECK(c.try_put(1) == channel_status::success);
    CHECK(c.size() == 1);
    time.run_until(t0 + 1s);
    CHECK_FALSE(how.has_value());
}

TEST_CASE("a frame that is destroyed while it waits for a stop, too, hears of none") {
    virtual_time time;
    channel<int> c(1, time);
    weir::stop_source stop;
    const auto waits = [](channel<int>& from, weir::stop_token token) -> actor {
        static_cast<void>(co_await from.get_for(5ms, token));
    };
    {
        actor a = waits(c, stop.get_token());
        a.start(time);
        time.run_until(t0);
        CHECK_FALSE(a.ended());
    }
    stop.request_stop();
    time.run_until(t0 + 1s);
    CHECK(c.try_put(1) == channel_status::success);
    CHECK(c.size() == 1);
}

TEST_CASE("timed operations work on unmeasured channels") {
    virtual_time time;
    channel<int, weir::unmeasured> c(1);
    std::optional<channel_status> how;
    int got = 0;
    actor a = get_in(c, 5ms, how, got);
    a.start(time);
    time.run_until(t0 + 4ms);
    CHECK_FALSE(how.has_value());
    CHECK(c.try_put(3) == channel_status::success);
    time.run_until(t0 + 4ms);
    CHECK(how == channel_status::success);
    CHECK(got == 3);
}

TEST_CASE("timed operations that don't wait yield once in so many") {
    virtual_time time;
    channel<int> c(1, time);
    int others = 0;
    bool done = false;
    const auto works = [&]() -> task<> {
        for (int i = 0; i < 1000; ++i) {
            static_cast<void>(co_await c.put_for(1, 1s));
            static_cast<void>(co_await c.get_for(1s));
        }
        done = true;
    };
    const auto looks_on = [&]() -> task<> {
        while (!done) {
            ++others;
            co_await weir::yield();
        }
    };
    sync_wait(time, when_all(works(), looks_on()));
    CHECK(others > 10);
    CHECK(time.now() == t0);
}

TEST_CASE("time limits are exact on a run loop and on a pool") {
    const auto gets = [](weir::executor& ex, channel<int>& c) -> task<> {
        const weir::time_point begin = ex.now();
        const auto none = co_await c.get_for(2ms);
        CHECK(none.status() == channel_status::timed_out);
        CHECK(ex.now() >= begin + 2ms);
        const auto one = co_await c.get_for(1h);
        CHECK(one.value() == 1);
    };
    const auto puts = [](channel<int>& c) -> task<> {
        co_await weir::sleep_for(4ms);
        const channel_status in = co_await c.put_for(1, 1h);
        CHECK(in == channel_status::success);
    };
    {
        weir::run_loop loop;
        channel<int> c(1);
        sync_wait(loop, when_all(gets(loop, c), puts(c)));
    }
    weir::thread_pool pool(2);
    channel<int> c(1);
    sync_wait(pool, when_all(gets(pool, c), puts(c)));
}

namespace {

// A coroutine of another library, which runs on no executor.
struct stranger {
    struct promise_type {
        stranger get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

stranger waits_outside(channel<int>& c, channel<channel_status>& told) {
    const auto none = co_await c.get_for(1ms);
    static_cast<void>(told.try_put(none.status()));
    const auto one = co_await c.get_for(1h);
    static_cast<void>(told.try_put(one.status()));
}

}  // namespace

TEST_CASE("a coroutine of another library without an executor may wait with a time limit") {
    channel<int> c(1);
    channel<channel_status> told(2);
    waits_outside(c, told);
    CHECK(*told.blocking_get() == channel_status::timed_out);
    CHECK(c.blocking_put(1) == channel_status::success);
    CHECK(*told.blocking_get() == channel_status::success);
}
