#include <weir/executor/run_loop.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/parking.hpp>
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
#include <coroutine>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using weir::run_loop;
using weir::sync_wait;
using weir::task;
using namespace std::chrono_literals;

namespace {

struct detached {
    struct promise_type {
        detached get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        weir::detail::coroutine_env& env() noexcept { return env_; }
        weir::detail::coroutine_env env_;
    };
};

detached visit(run_loop& loop, std::vector<int>& log, int name, int times) {
    for (int i = 0; i < times; ++i) {
        co_await weir::schedule(loop);
        log.push_back(name);
    }
}

detached set_after(run_loop& loop, weir::duration d, weir::detail::parker& done, bool& slept) {
    co_await weir::schedule(loop);
    slept = co_await weir::sleep_for(d);
    done.set();
}

const weir::time_point never = weir::time_point::max();

}  // namespace

TEST_CASE("a run loop runs one coroutine at each call of drive, first come, first served") {
    run_loop loop;
    weir::detail::parker done;
    std::vector<int> log;
    visit(loop, log, 1, 2);
    visit(loop, log, 2, 1);
    CHECK(log.empty());
    CHECK(loop.drive(done, never));
    CHECK(log == std::vector<int>{1});
    CHECK(loop.drive(done, never));
    CHECK(loop.drive(done, never));
    CHECK(log == std::vector<int>{1, 2, 1});
    CHECK_FALSE(loop.traits().exclusive);
}

TEST_CASE("a run loop without work returns at the limit, when it is poked, or when done is set") {
    run_loop loop;
    weir::detail::parker done;
    CHECK(loop.drive(done, weir::time_point::min()));
    CHECK(loop.drive(done, loop.now()));
    CHECK(loop.drive(done, loop.now() + 1ms));
    CHECK_FALSE(done.is_set());
    done.poke();
    CHECK(loop.drive(done, never));
    CHECK_FALSE(done.is_set());
    std::thread other([&] { done.set(); });
    while (!done.is_set()) CHECK(loop.drive(done, never));
    other.join();
}

TEST_CASE("a run loop with nothing ready works for the executor for whose item its last coroutine waits") {
    // Counts how often it is asked for a place. It gives one, and then posts the coroutine that waits.
    class lends final : public weir::executor {
      public:
        explicit lends(run_loop& to) : loop_(to) {}
        using executor::post;
        void post(std::coroutine_handle<>) noexcept override {}
        void add(weir::timer&) noexcept override {}
        void cancel(weir::timer&) noexcept override {}
        bool drive(flag&, weir::time_point) override { return false; }
        bool lend_place(flag& done) noexcept override {
            ++asked;
            if (waiting) loop_.post(std::exchange(waiting, nullptr));
            return done.is_set_or_poked();
        }
        std::coroutine_handle<> waiting;
        int asked = 0;

      private:
        run_loop& loop_;
    };
    struct waits {
        run_loop& loop;
        lends& other;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            loop.waits_for(other);
            other.waiting = h;
        }
        void await_resume() const noexcept {}
        static detached twice(run_loop& loop, lends& other, std::vector<int>& log) {
            co_await weir::schedule(loop);
            log.push_back(0);
            co_await waits{loop, other};
            log.push_back(1);
            co_await waits{loop, other};
            log.push_back(2);
        }
    };
    run_loop loop;
    lends other(loop);
    weir::detail::parker done;
    std::vector<int> log;
    waits::twice(loop, other, log);
    while (log.size() < 3) CHECK(loop.drive(done, never));
    CHECK(other.asked == 2);
    // Nothing waits there any more: the loop sleeps.
    done.poke();
    CHECK(loop.drive(done, never));
    CHECK(other.asked == 2);
}

TEST_CASE("a run loop works for no executor for which one of its coroutines waits on another thread") {
    // Another library resumes the coroutine on a thread of its own, where the coroutine waits for an item.
    class lends final : public weir::executor {
      public:
        void post(std::coroutine_handle<>) noexcept override {}
        void add(weir::timer&) noexcept override {}
        void cancel(weir::timer&) noexcept override {}
        bool drive(flag&, weir::time_point) override { return false; }
        bool lend_place(flag&) noexcept override { return ++requests != 0; }
        int requests = 0;
    };
    run_loop loop;
    lends other;
    std::thread elsewhere([&] { loop.waits_for(other); });
    elsewhere.join();
    weir::detail::parker done;
    done.set();
    CHECK(loop.drive(done, weir::time_point::max()));
    CHECK(other.requests == 0);
}

TEST_CASE("a run loop does not wake a thread that has left it") {
    run_loop loop;
    std::vector<int> log;
    alignas(weir::detail::parker) unsigned char place[sizeof(weir::detail::parker)];
    auto* const flag = std::construct_at(reinterpret_cast<weir::detail::parker*>(place));
    CHECK(loop.drive(*flag, weir::time_point::min()));
    std::destroy_at(flag);
    std::fill(std::begin(place), std::end(place), static_cast<unsigned char>(0));
    visit(loop, log, 1, 1);
    CHECK(std::count(std::begin(place), std::end(place), 0) == std::ssize(place));
    weir::detail::parker other;
    CHECK(loop.drive(other, never));
    CHECK(log == std::vector<int>{1});
}

TEST_CASE("a run loop that sleeps is woken by what others post, and by its timers") {
    run_loop loop;
    weir::detail::parker done;
    std::vector<int> log;
    bool slept = false;
    std::thread other([&] { set_after(loop, 1ms, done, slept); });
    while (!done.is_set()) CHECK(loop.drive(done, never));
    other.join();
    CHECK(slept);
}

TEST_CASE("a run loop serves its timers in the order of their deadlines, never too early") {
    struct body {
        static task<> sleep(run_loop& loop, weir::duration d, std::vector<int>& log, int name, int& early) {
            const weir::time_point due = loop.now() + d;
            co_await weir::sleep_for(d);
            if (loop.now() < due) ++early;
            log.push_back(name);
        }
    };
    run_loop loop;
    std::vector<int> log;
    int early = 0;
    weir::sync_wait(loop, weir::when_all(body::sleep(loop, 3ms, log, 3, early),
                                         body::sleep(loop, 1ms, log, 1, early),
                                         body::sleep(loop, 2ms, log, 2, early)));
    CHECK(log == std::vector<int>{1, 2, 3});
    CHECK(early == 0);
}

TEST_CASE("a timer that another thread cancels wakes the loop") {
    struct body {
        static task<bool> sleep(weir::stop_token stop, std::atomic<bool>& begun) {
            begun = true;
            const bool slept = co_await weir::sleep_for(weir::duration::max(), stop);
            co_return slept;
        }
    };
    for (int i = 0; i < 50; ++i) {
        weir::stop_source source;
        std::atomic<bool> begun{false};
        std::thread other([&] {
            while (!begun) std::this_thread::yield();
            source.request_stop();
        });
        const bool slept = weir::sync_wait(body::sleep(source.get_token(), begun));
        other.join();
        REQUIRE_FALSE(slept);
    }
}

TEST_CASE("only the thread that constructed a run loop runs its coroutines") {
    run_loop loop;
    weir::detail::parker done;
    std::vector<int> log;
    visit(loop, log, 1, 1);
    bool drove = true;
    std::thread([&] { drove = loop.drive(done, never); }).join();
    CHECK_FALSE(drove);
    CHECK(log.empty());
    CHECK(loop.drive(done, never));
    CHECK(log == std::vector<int>{1});
}

TEST_CASE("a thread that blocks on a channel of somebody's run loop doesn't run that loop") {
    struct body {
        // Sums what comes, and counts what did not come on the loop's own thread.
        static task<int> sum(weir::channel<int>& c, std::thread::id own, int& elsewhere) {
            int s = 0;
            while (auto item = co_await c.get()) {
                s += *item;
                if (std::this_thread::get_id() != own) ++elsewhere;
            }
            co_return s;
        }
    };
    run_loop loop;
    weir::channel<int> explicitly(1, loop), lazily(1);
    for (weir::channel<int>* const c : {&explicitly, &lazily}) {
        std::thread other([c] {
            for (int i = 1; i <= 1'000; ++i) c->blocking_put(i + 0);
            c->close();
        });
        int elsewhere = 0;
        CHECK(weir::sync_wait(loop, body::sum(*c, std::this_thread::get_id(), elsewhere)) == 500'500);
        other.join();
        CHECK(elsewhere == 0);
        CHECK(c->stats().num_get == 1'000);
    }
}

TEST_CASE("coroutines without an executor share one run loop, which has a thread of its own, and timers") {
    weir::executor& ex = weir::detail::foreign_run_loop::get();
    CHECK(&ex == &weir::detail::foreign_run_loop::get());
    const auto where = []() -> weir::task<std::thread::id> {
        co_await weir::sleep_for(std::chrono::nanoseconds(1));
        co_return std::this_thread::get_id();
    };
    const std::thread::id first = weir::sync_wait(ex, where());
    CHECK(first != std::this_thread::get_id());
    CHECK(weir::sync_wait(ex, where()) == first);
}

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
