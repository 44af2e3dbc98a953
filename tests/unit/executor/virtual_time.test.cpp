#include <weir/executor/virtual_time.hpp>

#include "support/catch.hpp"
#include "support/detached.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using weir::time_point;
using weir::timer;
using weir::timer_order;
using weir::detail::virtual_clock;

namespace {

time_point at(int ns) { return time_point(weir::duration(ns)); }

struct scene {
    virtual_clock clock;
    std::vector<std::coroutine_handle<>> ready;

    bool advance(time_point limit = time_point::max()) {
        return clock.advance(limit, [this](std::coroutine_handle<> h) { ready.push_back(h); });
    }
};

timer a_timer(int ns, timer_order order = timer_order::normal) {
    return timer(at(ns), std::noop_coroutine(), order);
}

}  // namespace

TEST_CASE("the clock goes to the earliest timer, and gives all of that instant") {
    scene s;
    timer late = a_timer(7), one = a_timer(5), other = a_timer(5);
    for (timer* t : {&late, &one, &other}) CHECK(s.clock.add(*t));
    CHECK(s.advance());
    CHECK(s.clock.now() == at(5));
    CHECK(s.ready.size() == 2);
    CHECK(s.advance());
    CHECK(s.clock.now() == at(7));
    CHECK(s.ready.size() == 3);
    CHECK_FALSE(s.advance());
}

TEST_CASE("a timer that is due at the limit has not fired yet") {
    scene s;
    timer t = a_timer(5);
    CHECK(s.clock.add(t));
    CHECK_FALSE(s.advance(at(5)));
    CHECK(s.clock.now() == at(0));
    CHECK(s.advance(at(6)));
}

TEST_CASE("before_all timers of an instant fire before all others, without them") {
    scene s;
    timer normal = a_timer(5), first = a_timer(5, timer_order::before_all);
    CHECK(s.clock.add(normal));
    CHECK(s.clock.add(first));
    CHECK(s.advance());
    CHECK(s.ready.size() == 1);
    CHECK(s.advance());
    CHECK(s.ready.size() == 2);
}

TEST_CASE("a mere watcher keeps no time going") {
    scene s;
    timer watcher = a_timer(5, timer_order::before_all), work = a_timer(3);
    CHECK(s.clock.add(watcher));
    CHECK_FALSE(s.advance());
    CHECK(s.clock.add(work));
    CHECK(s.clock.cancel(work));
    CHECK_FALSE(s.advance());
    CHECK(s.advance(at(100)));  // unless somebody waits for an instant
    CHECK(s.clock.now() == at(5));
}

using namespace std::chrono_literals;
using weir::channel;
using weir::sync_wait;
using weir::task;
using weir::virtual_time;
using weir::when_all;

static_assert(std::is_base_of_v<weir::executor, virtual_time>);
static_assert(!std::is_copy_constructible_v<virtual_time>);
static_assert(!std::is_convertible_v<int, virtual_time>);

namespace {

const weir::time_point t0{};

detached log_on(weir::executor& ex, std::vector<int>& log, int name) {
    co_await weir::schedule(ex);
    log.push_back(name);
}

detached log_at(weir::executor& ex, weir::time_point t, std::vector<int>& log, int name) {
    co_await weir::schedule(ex);
    co_await weir::sleep_until(t);
    log.push_back(name);
}

detached take(weir::executor& ex, channel<int>& c) {
    co_await weir::schedule(ex);
    co_await c.get();
}

detached fill(weir::executor& ex, channel<int>& c) {
    co_await weir::schedule(ex);
    bool in = true;
    while (in) in = co_await c.put(1);
}

template <class F>
std::string message_of(F&& f) {
    try {
        f();
    } catch (const weir::deadlock_error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("virtual time stands still while anything can run, and then jumps to the next timer") {
    struct body {
        static task<> tick(virtual_time& time, std::vector<weir::time_point>& seen) {
            for (int i = 0; i < 3; ++i) {
                for (int k = 0; k < 1'000; ++k) co_await weir::yield();
                seen.push_back(time.now());
                co_await weir::sleep_for(24h);
            }
        }
    };
    virtual_time time;
    CHECK(time.now() == t0);
    CHECK(time.traits().exclusive);
    std::vector<weir::time_point> seen;
    sync_wait(time, body::tick(time, seen));
    CHECK(seen == std::vector<weir::time_point>{t0, t0 + 24h, t0 + 48h});
    CHECK(time.now() == t0 + 72h);
}

TEST_CASE("without a seed, ready coroutines run first come, first served") {
    virtual_time time;
    std::vector<int> log;
    for (int i = 0; i < 5; ++i) log_on(time, log, i);
    CHECK(log.empty());
    time.run();
    CHECK(log == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("with a seed the order is the seed's: the same each time, another one for another seed") {
    std::set<std::vector<int>> orders;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::vector<int> first, second;
        for (std::vector<int>* const log : {&first, &second}) {
            virtual_time time(seed);
            for (int i = 0; i < 8; ++i) log_on(time, *log, i);
            time.run();
        }
        CHECK(first == second);
        CHECK(std::set<int>(first.begin(), first.end()).size() == 8);
        orders.insert(first);
    }
    CHECK(orders.size() > 15);
    // Any two coroutines run in either order.
    bool before = false, after = false;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        virtual_time time(seed);
        std::vector<int> log;
        log_on(time, log, 1);
        log_on(time, log, 2);
        time.run();
        (log.front() == 1 ? before : after) = true;
    }
    CHECK(before);
    CHECK(after);
}

TEST_CASE(
    "run_until runs everything before the instant, sets the clock, and fires no timer due at the instant") {
    virtual_time time;
    std::vector<int> log;
    log_at(time, t0 + 1s, log, 1);
    log_at(time, t0 + 2s, log, 2);
    log_at(time, t0 + 3s, log, 3);
    time.run_until(t0 + 2s);
    CHECK(log == std::vector<int>{1});
    CHECK(time.now() == t0 + 2s);
    time.run_until(t0 + 2s);
    CHECK(log == std::vector<int>{1});
    time.run_until(t0 + 1s);  // is over: nothing happens
    CHECK(time.now() == t0 + 2s);
    CHECK(log == std::vector<int>{1});
    time.run_until(t0 + 2s + 1ns);
    CHECK(log == std::vector<int>{1, 2});
    time.run_until(t0 + 10s);
    CHECK(log == std::vector<int>{1, 2, 3});
    CHECK(time.now() == t0 + 10s);
    time.run();
    CHECK(time.now() == t0 + 10s);
}

TEST_CASE("run ends where nothing is ready and no timer is left, whether or not the time has an end") {
    virtual_time time;
    time.run();
    CHECK(time.now() == t0);
    std::vector<int> log;
    log_at(time, t0 + 1h, log, 1);
    time.run();
    CHECK(log == std::vector<int>{1});
    CHECK(time.now() == t0 + 1h);
}

TEST_CASE("virtual time does not advance for before_all timers alone") {
    struct body {
        static task<> tick(std::vector<weir::time_point>& laps, weir::stop_token stop) {
            for (weir::time_point t = t0 + 2s; laps.size() < 100; t += 2s) {
                const bool slept = co_await weir::sleep_until(t, stop, weir::timer_order::before_all);
                if (!slept) break;
                laps.push_back(t);
            }
        }
        static task<> work(weir::duration d, weir::stop_source& done) {
            co_await weir::sleep_for(d);
            done.request_stop();
        }
    };
    std::vector<weir::time_point> laps;
    SECTION("with work that ends") {
        virtual_time time;
        weir::stop_source done;
        sync_wait(time, when_all(body::tick(laps, done.get_token()), body::work(5s, done)));
        CHECK(laps == std::vector<weir::time_point>{t0 + 2s, t0 + 4s});
        CHECK(time.now() == t0 + 5s);
    }
    SECTION("with nothing else") {
        virtual_time time;
        CHECK_THROWS_AS(sync_wait(time, body::tick(laps, {})), weir::deadlock_error);
        CHECK(laps.empty());
    }
    SECTION("with work that waits for ever") {
        virtual_time time;
        weir::stop_source done;
        CHECK_THROWS_AS(sync_wait(time,
                                  when_all(body::tick(laps, {}), body::work(weir::duration::max(), done))),
                        weir::deadlock_error);
        CHECK(laps.empty());
        CHECK(time.now() == t0);
    }
    SECTION("up to an instant that somebody asks for") {
        virtual_time time;
        task<> watcher = body::tick(laps, {});
        class owner final : public weir::detail::detached_task_owner {
            void ended() noexcept override {}
        } nobody;
        auto detached_task = weir::detail::make_detached_task<void, task<>>(watcher);
        detached_task.start(time, nullptr, nobody);
        time.run_until(t0 + 5s);
        CHECK(laps.size() == 2);
        time.run();
        CHECK(laps.size() == 2);
    }
}

TEST_CASE("statistics on virtual time don't depend on the seed") {
    struct body {
        static task<> produce(channel<int>& c, int items, weir::duration pause) {
            for (int i = 0; i < items; ++i) {
                co_await weir::sleep_for(pause);
                const bool in = co_await c.put(i + 0);
                if (!in) co_return;
            }
        }
        static task<> move(channel<int>& from, channel<int>& to, weir::duration work) {
            while (auto item = co_await from.get()) {
                co_await weir::sleep_for(work);
                const bool in = co_await to.put(std::move(*item));
                if (!in) co_return;
            }
        }
        static task<> consume(channel<int>& c, weir::duration work, int& sum) {
            while (auto item = co_await c.get()) {
                sum += *item;
                co_await weir::sleep_for(work);
            }
        }
        static task<> close_after(task<> t, channel<int>& c) {
            co_await std::move(t);
            c.close();
        }
        static task<> both(task<> a, task<> b) { co_await when_all(std::move(a), std::move(b)); }
        static task<> all(channel<int>& a, channel<int>& b, int& sum) {
            // Those that do the same are alike: which of them goes first changes nothing.
            task<> producers = both(produce(a, 40, 3s), produce(a, 40, 3s));
            task<> movers = both(move(a, b, 4s), move(a, b, 4s));
            co_await when_all(close_after(std::move(producers), a), close_after(std::move(movers), b),
                              consume(b, 2s, sum));
        }
    };
    std::optional<weir::channel_stats> a, b;
    weir::time_point end{};
    for (std::uint64_t seed = 0; seed <= 20; ++seed) {
        CAPTURE(seed);
        virtual_time time(seed);
        channel<int> first(2, time, "first"), second(1, time, "second");
        int sum = 0;
        sync_wait(time, body::all(first, second, sum));
        CHECK(sum == 39 * 40);
        if (seed == 0) {
            a = first.stats();
            b = second.stats();
            end = time.now();
            CHECK(a->num_get == 80);
            CHECK(a->put_wait > 0s);
            CHECK(b->get_wait > 0s);
        }
        CHECK(time.now() == end);
        CHECK(first.stats() == *a);
        CHECK(second.stats() == *b);
    }
}

TEST_CASE("a deadlock report names each waiter, its operation and its channel") {
    virtual_time time;
    channel<int> empty(2, time, "empty"), full(1, time, "full"), unnamed(3);
    take(time, empty);
    fill(time, full);
    take(time, unnamed);
    const std::string stage = "decode";
    weir::detail::timed_slot<true> slot(stage, 1, time);
    slot.begin(0);
    class owner final : public weir::detail::detached_task_owner {
        void ended() noexcept override {}
    } nobody;
    auto get = weir::detail::get_operation<channel<int>>(empty, &slot);
    auto measured = weir::detail::make_detached_task<std::optional<int>, decltype(get)&>(get);
    measured.start(time, &slot, nobody);
    CHECK(message_of([&] { time.run(); }) ==
          "weir: deadlock: nothing can run, no timer is left, and somebody waits:"
          "\n  channel 'full' is full, 1 of 1: a coroutine waits to put"
          "\n  channel 'empty' is empty, 0 of 2: a coroutine waits to get"
          "\n  channel 'empty' is empty, 0 of 2: stage 'decode', slot 1 waits to get"
          "\n  channel (unnamed) is empty, 0 of 3: a coroutine waits to get");
    // It is no more than a report: who is served goes on.
    empty.close();
    unnamed.close();
    full.close();
    CHECK(message_of([&] { time.run(); }) == "none");
}

TEST_CASE("the report of a deadlock names sleeps that never end") {
    struct body {
        static weir::task<> sleep(weir::duration d) { co_await weir::sleep_for(d); }
        static weir::task<> get(channel<int>& c) { static_cast<void>(co_await c.get()); }
    };
    const std::string begin = "weir: deadlock: nothing can run, no timer is left, and somebody waits:";
    virtual_time time;
    CHECK(message_of([&] { weir::sync_wait(time, body::sleep(weir::duration::max())); }) ==
          begin + "\n  a coroutine sleeps for ever");
    virtual_time other;
    channel<int> c(1, other, "c");
    CHECK(message_of([&] {
              weir::sync_wait(other, weir::when_all(body::sleep(weir::duration::max()),
                                                    body::sleep(weir::duration(7)),
                                                    body::sleep(weir::duration::max()), body::get(c)));
          }) ==
          begin +
              "\n  2 coroutines sleep for ever\n  channel 'c' is empty, 0 of 1: a coroutine waits to get");
}

TEST_CASE("the report of a deadlock gives no control characters of names to a terminal") {
    virtual_time time;
    channel<int> c(1, time, "red\x1B[31m");
    take(time, c);
    CHECK(message_of([&] { time.run(); }) ==
          "weir: deadlock: nothing can run, no timer is left, and somebody waits:"
          "\n  channel 'red?[31m' is empty, 0 of 1: a coroutine waits to get");
}

TEST_CASE("the report of a deadlock says which channels it can name") {
    weir::channel<int> shared(1);
    const auto take = [](weir::channel<int>& from, weir::duration most) -> weir::task<> {
        static_cast<void>(co_await from.get_for(most));
    };
    weir::virtual_time first;
    sync_wait(first, take(shared, std::chrono::milliseconds(1)));
    weir::virtual_time second;
    const auto wait = [](weir::channel<int>& from) -> weir::task<> {
        static_cast<void>(co_await from.get());
    };
    CHECK(message_of([&] {
              sync_wait(second, wait(shared));
          }).ends_with("a channel at which a coroutine of this executor was the first to wait"));
}

TEST_CASE("a thread that blocks on virtual time runs it, and is in the report of a deadlock") {
    virtual_time time;
    channel<int> c(1, time, "c");
    CHECK(
        message_of([&] { static_cast<void>(c.blocking_get()); }) ==
        "weir: deadlock: nothing can run, no timer is left, and somebody waits:"
        "\n  for something other than a channel at which a coroutine of this executor was the first to wait");
    // A channel is known to virtual time once a coroutine waited on it.
    take(time, c);
    CHECK(message_of([&] { static_cast<void>(c.blocking_get()); }) ==
          "weir: deadlock: nothing can run, no timer is left, and somebody waits:"
          "\n  channel 'c' is empty, 0 of 1: a thread waits to get"
          "\n  channel 'c' is empty, 0 of 1: a coroutine waits to get");
    c.close();
    time.run();
}

TEST_CASE("of virtual time and a channel, either may be destroyed first") {
    SECTION("the channel") {
        virtual_time time;
        {
            channel<int> c(1, time);
            take(time, c);
            time.run_until(t0 + 1s);
            c.close();
            time.run();
        }
        time.run();
        channel<int> next(1, time);
        take(time, next);
        CHECK_THROWS_AS(time.run(), weir::deadlock_error);
        next.close();
        time.run();
    }
    SECTION("virtual time") {
        std::optional<channel<int>> c;
        {
            virtual_time time;
            c.emplace(1U);
            take(time, *c);
            time.run_until(t0 + 1s);
            c->close();
            time.run();
        }
        c.reset();
    }
    SECTION("each of many, in turn") {
        auto time = std::make_unique<virtual_time>();
        std::vector<std::unique_ptr<channel<int>>> channels;
        for (int i = 0; i < 6; ++i) {
            channels.push_back(std::make_unique<channel<int>>(1U));
            take(*time, *channels.back());
        }
        time->run_until(t0 + 1s);
        for (auto& c : channels) c->close();
        time->run();
        channels[3].reset();
        channels[0].reset();
        time->run();
        time.reset();
        channels.clear();
    }
    SUCCEED();
}

TEST_CASE("a coroutine on virtual time stays there when it is sent to threads") {
    struct body {
        static task<> go(weir::executor& there, std::vector<std::thread::id>& seen) {
            co_await weir::schedule(there);
            seen.push_back(std::this_thread::get_id());
            co_await weir::sleep_for(1s);  // still by the clock of where it is
        }
    };
    weir::thread_pool pool(1);
    virtual_time time;
    std::vector<std::thread::id> seen;
    weir::sync_wait(time, weir::when_all(body::go(pool, seen), body::go(pool, seen)));
    CHECK(seen == std::vector<std::thread::id>(2, std::this_thread::get_id()));
    CHECK(time.now() == t0 + 1s);
}

TEST_CASE("other threads post to virtual time and read its clock while one thread runs it") {
    struct body {
        static task<> wait_for(std::atomic<int>& arrived, int expected) {
            while (arrived.load() < expected) co_await weir::yield();
            co_await weir::sleep_for(1s);
        }
        static detached arrive(weir::executor& ex, std::thread::id own, std::atomic<int>& arrived,
                               std::atomic<int>& elsewhere) {
            co_await weir::schedule(ex);
            if (std::this_thread::get_id() != own) ++elsewhere;
            ++arrived;
        }
    };
    virtual_time time;
    std::atomic<int> arrived{0}, elsewhere{0};
    std::atomic<bool> forward{true};
    const auto own = std::this_thread::get_id();
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&] {
            weir::time_point last = time.now();
            for (int i = 0; i < 500; ++i) {
                body::arrive(time, own, arrived, elsewhere);
                const weir::time_point now = time.now();
                if (now < last) forward = false;
                last = now;
            }
        });
    }
    sync_wait(time, body::wait_for(arrived, 1'000));
    for (std::thread& t : threads) t.join();
    CHECK(arrived == 1'000);
    CHECK(elsewhere == 0);
    CHECK(forward);
    CHECK(time.now() == t0 + 1s);
}

TEST_CASE("a thread that drives virtual time up to a limit stops there") {
    virtual_time time;
    std::vector<int> log;
    log_at(time, t0 + 1s, log, 1);
    log_at(time, t0 + 5s, log, 2);
    weir::detail::parker done;
    while (time.now() < t0 + 3s) CHECK(time.drive(done, t0 + 3s));
    CHECK(log == std::vector<int>{1});
    CHECK(time.now() == t0 + 3s);
    CHECK_FALSE(done.is_set());
    time.run();
    CHECK(log == std::vector<int>{1, 2});
}
