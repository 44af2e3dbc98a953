#include <weir/executor/blocking_pool.hpp>

#include "support/catch.hpp"
#include "support/detached.hpp"
#include "support/pools.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/timer.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using pools::meagre_platform;
using weir::blocking_pool;
using weir::task;

static_assert(std::is_base_of_v<weir::executor, blocking_pool>);
static_assert(!std::is_copy_constructible_v<blocking_pool>);
static_assert(!std::is_default_constructible_v<blocking_pool>);

namespace {

detached append_on(weir::executor& ex, std::vector<int>& log, int name) {
    co_await weir::schedule(ex);
    log.push_back(name);
}

task<> meet(std::atomic<int>& present, int expected) {
    present.fetch_add(1);
    while (present.load() < expected) std::this_thread::yield();
    co_return;
}

task<std::thread::id> where() { co_return std::this_thread::get_id(); }

}  // namespace

TEST_CASE("a blocking pool has as many threads as asked for, and never none") {
    CHECK(blocking_pool(3).threads() == 3);
    CHECK_THROWS_AS(blocking_pool(0), std::invalid_argument);
    CHECK_THROWS_AS(blocking_pool(static_cast<unsigned>(-1)), std::invalid_argument);
    std::string message;
    try {
        blocking_pool pool(0);
    } catch (const std::invalid_argument& e) {
        message = e.what();
    }
    CHECK(message.find("ask for as many as") != std::string::npos);
}

TEST_CASE("a blocking pool is first come, first served, and its destructor runs what is posted") {
    std::vector<int> log, expected;
    {
        blocking_pool pool(1);
        for (int i = 0; i < 1'000; ++i) {
            append_on(pool, log, i);
            expected.push_back(i);
        }
    }
    CHECK(log == expected);
}

TEST_CASE("a blocking pool blocks in as many coroutines at a time as it has threads") {
    blocking_pool pool(12);
    for (int i = 0; i < 10; ++i) {
        std::atomic<int> present{0};
        std::vector<task<>> guests;
        for (int k = 0; k < 12; ++k) guests.push_back(meet(present, 12));
        weir::sync_wait(pool, weir::when_all(std::move(guests)));
    }
    CHECK(weir::sync_wait(pool, where()) != std::this_thread::get_id());
}

TEST_CASE("sleepers on a blocking pool wake in order and never too early, all threads idle or not") {
    struct sleeper {
        static task<> sleep(blocking_pool& pool, weir::duration d, std::atomic<int>& early) {
            const weir::time_point due = pool.now() + d;
            co_await weir::sleep_until(due);
            if (pool.now() < due) early.fetch_add(1);
        }
        // Occupies a thread until a sleeper has been woken by another.
        static task<> hog(const std::atomic<bool>& awake) {
            while (!awake.load()) std::this_thread::yield();
            co_return;
        }
        static task<> sleep_then_tell(std::atomic<bool>& awake) {
            co_await weir::sleep_for(100us);
            awake = true;
        }
    };
    for (const unsigned threads : {1U, 2U, 5U}) {
        CAPTURE(threads);
        blocking_pool pool(threads);
        std::atomic<int> early{0};
        for (int i = 0; i < 20; ++i) {
            weir::sync_wait(pool, weir::when_all(sleeper::sleep(pool, 300us, early),
                                                 sleeper::sleep(pool, 100us, early),
                                                 sleeper::sleep(pool, 200us, early)));
        }
        CHECK(early.load() == 0);
        for (unsigned hogs = 0; hogs < threads; ++hogs) {
            for (int i = 0; i < 20; ++i) {
                std::atomic<bool> awake{false};
                std::vector<task<>> all;
                all.push_back(sleeper::sleep_then_tell(awake));
                for (unsigned k = 0; k < hogs; ++k) all.push_back(sleeper::hog(awake));
                weir::sync_wait(pool, weir::when_all(std::move(all)));
            }
        }
    }
}

TEST_CASE("a timer that another thread adds wakes a blocking pool which sleeps") {
    for (const unsigned threads : {1U, 3U}) {
        CAPTURE(threads);
        blocking_pool pool(threads);
        pools::wake_by_timers(pool);
    }
}

TEST_CASE("a sleep on a blocking pool is cut short by a stop") {
    struct stoppable {
        static task<bool> sleep(weir::stop_token stop) {
            const bool slept = co_await weir::sleep_for(weir::duration::max(), stop);
            co_return slept;
        }
    };
    blocking_pool pool(2);
    weir::stop_source stop;
    std::thread outside([&] { stop.request_stop(); });
    CHECK_FALSE(weir::sync_wait(pool, stoppable::sleep(stop.get_token())));
    outside.join();
}

TEST_CASE("a thread of a blocking pool that waits for others does their work") {
    struct nest {
        static task<int> deep(blocking_pool& pool, int levels) {
            int below = 0;
            if (levels > 0) below = weir::sync_wait(pool, deep(pool, levels - 1));
            co_return below + 1;
        }
        static task<> sleepy(blocking_pool& pool) {
            weir::sync_wait(pool, weir::sleep_for(1us));
            co_return;
        }
    };
    blocking_pool pool(1);
    CHECK(weir::sync_wait(pool, nest::deep(pool, 10)) == 11);
    weir::sync_wait(pool, nest::sleepy(pool));
    weir::detail::parker done;
    CHECK_FALSE(pool.drive(done, weir::time_point::max()));
}

TEST_CASE(
    "a coroutine of a blocking pool may wait with a lock that more of its coroutines want than it has "
    "threads") {
    struct body {
        static task<> waits(blocking_pool& pool, std::mutex& m, int& count) {
            const std::lock_guard guard(m);
            weir::sync_wait(pool, weir::sleep_for(1us));
            ++count;
            co_return;
        }
    };
    blocking_pool pool(2);
    std::mutex m;
    int count = 0;
    const auto one = [&] { return body::waits(pool, m, count); };
    weir::sync_wait(pool, weir::when_all(one(), one(), one(), one(), one(), one()));
    CHECK(count == 6);
    CHECK(pool.threads() == 2);
}

TEST_CASE("a blocking pool that is destroyed while coroutines wait in it runs what they post afterwards") {
    struct body {
        static detached counts(blocking_pool& pool, std::atomic<int>& count) {
            co_await weir::schedule(pool);
            ++count;
        }
        static detached waits(blocking_pool& pool, std::atomic<int>& count) {
            co_await weir::schedule(pool);
            weir::sync_wait(pool, weir::sleep_for(100us));
            counts(pool, count);
        }
    };
    std::atomic<int> count = 0;
    {
        blocking_pool pool(2);
        for (int i = 0; i < 10; ++i) body::waits(pool, count);
    }
    CHECK(count == 10);
}

TEST_CASE("a blocking pool runs what was posted right before its end, while its thread asked for it") {
    using unhurried_platform = pools::unhurried_platform<blocking_pool>;
    std::vector<int> log;
    {
        weir::basic_blocking_pool<unhurried_platform> pool(1);
        while (!unhurried_platform::asked) std::this_thread::yield();
        append_on(pool, log, 1);
    }
    CHECK(log == std::vector{1});
}

TEST_CASE("a blocking pool that can't start all of its threads ends those it has, and tells") {
    for (int available = 0; available < 4; ++available) {
        CAPTURE(available);
        meagre_platform::left = available;
        CHECK_THROWS_AS(weir::basic_blocking_pool<meagre_platform>(4), std::system_error);
    }
}

TEST_CASE(
    "each thread of a blocking pool calls the hook first, and the constructor throws the hook's exception") {
    std::vector<unsigned> begun;
    {
        weir::blocking_pool pool(2, {.on_thread_start = [&](unsigned i) { begun.push_back(i); }});
        CHECK(begun == std::vector<unsigned>{0, 1});
    }
    CHECK_THROWS_WITH(weir::blocking_pool(3, {.on_thread_start =
                                                  [](unsigned i) {
                                                      if (i == 1) throw std::runtime_error("no such device");
                                                  }}),
                      "no such device");
}

TEST_CASE("at the end of a blocking pool's thread, the destructor of a thread_local object may wait") {
    struct owner {
        std::atomic<int>* destroyed;
        ~owner() {
            weir::sync_wait(weir::sleep_for(1us));
            ++*destroyed;
        }
    };
    std::atomic<int> destroyed = 0;
    {
        weir::blocking_pool pool(2, {.on_thread_start = [&](unsigned) {
                                     static thread_local owner of_thread{&destroyed};
                                     static_cast<void>(of_thread);
                                 }});
        weir::sync_wait(pool, weir::yield());
    }
    CHECK(destroyed == 2);
}

TEST_CASE("an inspection sees whether a blocking pool has anything to do") {
    weir::blocking_pool pool(2);
    const auto seen = [&] {
        weir::detail::executor_view view;
        pool.inspect(view);
        return view;
    };
    const auto wait_for_rest = [&] {
        while (seen().busy != 0 || seen().pending) std::this_thread::yield();
    };
    wait_for_rest();
    const auto before = seen().resumed;
    std::atomic<bool> over = false;
    const auto block = [&]() -> weir::task<> {
        while (!over) std::this_thread::yield();
        co_return;
    };
    std::thread waits([&] { weir::sync_wait(pool, block()); });
    while (seen().busy != 1) std::this_thread::yield();
    over = true;
    waits.join();
    wait_for_rest();
    CHECK(seen().resumed == before + 1);
}

TEST_CASE("an inspection sees queued coroutines and timers of a blocking pool") {
    weir::blocking_pool pool(1);
    const auto pending = [&] {
        weir::detail::executor_view view;
        pool.inspect(view);
        return view.pending;
    };
    std::atomic<bool> over = false, runs = false;
    const auto block = [&]() -> weir::task<> {
        runs = true;
        while (!over) std::this_thread::yield();
        co_return;
    };
    std::thread waits([&] { weir::sync_wait(pool, block()); });
    while (!runs) std::this_thread::yield();
    CHECK_FALSE(pending());
    weir::timer later(weir::time_point::max() - 1ns, std::noop_coroutine());
    pool.add(later);
    CHECK(pending());
    pool.cancel(later);  // which posts its waiter
    CHECK(pending());
    over = true;
    waits.join();
}

TEST_CASE("a coroutine of a blocking pool may destroy another pool, and its own goes on") {
    struct body {
        static task<> destroys(std::optional<weir::blocking_pool>& other) {
            other.reset();
            co_return;
        }
    };
    blocking_pool pool(1);
    std::optional<weir::blocking_pool> other(std::in_place, 2U);
    weir::sync_wait(pool, body::destroys(other));
    CHECK_FALSE(other.has_value());
    CHECK(weir::sync_wait(pool, where()) != std::this_thread::get_id());
}

TEST_CASE("if no thread can replace one that blocks, the blocking pool tries again") {
    struct body {
        static task<int> inner() {
            co_await weir::yield();
            co_return 7;
        }
        static task<int> outer(weir::executor& pool) { co_return weir::sync_wait(pool, inner()); }
    };
    meagre_platform::left = 1;  // the next one fails, and those behind it don't
    weir::basic_blocking_pool<meagre_platform> pool(1);
    CHECK(weir::sync_wait(pool, body::outer(pool)) == 7);
    CHECK(meagre_platform::left < -1);
}
