#include <weir/executor/run_loop.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/platform/parking.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using weir::run_loop;
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
