#include <weir/task/task_group.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using weir::sync_wait;
using weir::task;
using weir::task_group;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

task<> add(std::atomic<int>& sum, int n) {
    sum.fetch_add(n);
    co_return;
}

task<> add_after(weir::duration d, std::vector<int>& log, int n) {
    co_await weir::sleep_for(d);
    log.push_back(n);
}

task<> fail(std::string message) {
    throw std::runtime_error(message);
    co_return;
}

// Where nothing ever comes, it is left behind: what it waits for has to outlive it.
task<> wait_on(weir::channel<int>& c) { static_cast<void>(co_await c.get()); }

task<> hold(std::shared_ptr<int> thing) {
    co_await weir::sleep_for(1ms);
    static_cast<void>(thing);
}

task<> spawn_many(task_group& group, std::atomic<int>& sum, int n) {
    for (int i = 1; i <= n; ++i) group.spawn(add(sum, i));
    co_await group.join();
}

task<> fork_many(task_group& group, std::atomic<int>& sum, int n) {
    for (int i = 1; i <= n; ++i) co_await group.fork(add(sum, i));
    co_await group.join();
}

task<> fork_tree(weir::executor& ex, std::atomic<int>& leaves, int depth) {
    if (depth == 0) {
        leaves.fetch_add(1);
        co_return;
    }
    task_group group(ex);
    for (int i = 0; i < 3; ++i) co_await group.fork(fork_tree(ex, leaves, depth - 1));
    co_await group.join();
}

}  // namespace

TEST_CASE("join waits for all tasks that were spawned") {
    weir::virtual_time time;
    std::vector<int> log;
    struct body {
        static task<> run(weir::virtual_time& time, std::vector<int>& log) {
            task_group group(time);
            group.spawn(add_after(20ms, log, 2));
            group.spawn(add_after(10ms, log, 1));
            co_await group.join();
            log.push_back(3);
        }
    };
    sync_wait(time, body::run(time, log));
    CHECK(log == std::vector<int>{1, 2, 3});
    CHECK(time.now() == weir::time_point(20ms));
}

TEST_CASE("join without tasks doesn't wait, and a group can be used again after a join") {
    weir::virtual_time time;
    struct body {
        static task<int> run(weir::virtual_time& time) {
            task_group group(time);
            co_await group.join();
            std::atomic<int> sum{0};
            for (int round = 0; round < 3; ++round) {
                group.spawn(add(sum, 1));
                co_await group.join();
            }
            co_return sum.load();
        }
    };
    CHECK(sync_wait(time, body::run(time)) == 3);
}

TEST_CASE("a spawned task never runs inside of spawn") {
    weir::virtual_time time;
    task_group group(time);
    std::atomic<int> sum{0};
    group.spawn(add(sum, 1));
    CHECK(sum == 0);
    sync_wait(time, group.join());
    CHECK(sum == 1);
}

TEST_CASE("a forked task that doesn't wait has ended when fork returns") {
    weir::virtual_time time;
    struct body {
        static task<std::vector<int>> run(weir::virtual_time& time) {
            std::vector<int> seen;
            std::atomic<int> sum{0};
            task_group group(time);
            for (int i = 0; i < 3; ++i) {
                co_await group.fork(add(sum, 1));
                seen.push_back(sum);
            }
            co_await group.join();
            co_return seen;
        }
    };
    CHECK(sync_wait(time, body::run(time)) == std::vector<int>{1, 2, 3});
}

TEST_CASE("a group rejects a task that was moved from, and can be used afterwards") {
    weir::run_loop loop;
    task_group group(loop);
    int sum = 0;
    const auto adds = [&]() -> task<> {
        ++sum;
        co_return;
    };
    task<> from = adds();
    group.spawn(std::move(from));
    CHECK_THROWS_AS(group.spawn(std::move(from)), std::logic_error);  // NOLINT: that is what is asked
    const auto forks = [&]() -> task<> {
        CHECK_THROWS_AS(co_await group.fork(task<>()), std::logic_error);
        co_await group.join();
    };
    sync_wait(loop, forks());
    CHECK(sum == 1);
}

TEST_CASE("join throws the first exception, after all tasks have ended, and only once") {
    weir::virtual_time time;
    struct body {
        static task<std::string> run(weir::virtual_time& time, std::vector<int>& log) {
            task_group group(time);
            std::string caught;
            group.spawn(fail("first"));
            group.spawn(add_after(5ms, log, 7));
            group.spawn(fail("second"));
            try {
                co_await group.join();
            } catch (const std::runtime_error& e) {
                caught = e.what();
            }
            co_await group.join();
            co_return caught;
        }
    };
    std::vector<int> log;
    CHECK(sync_wait(time, body::run(time, log)) == "first");
    CHECK(log == std::vector<int>{7});
}

TEST_CASE("a task's arguments are destroyed when it has ended") {
    weir::virtual_time time;
    auto thing = std::make_shared<int>(1);
    task_group group(time);
    for (int i = 0; i < 10; ++i) group.spawn(hold(thing));
    CHECK(thing.use_count() == 11);
    sync_wait(time, group.join());
    CHECK(thing.use_count() == 1);
}

TEST_CASE("a thread spawns, and waits with sync_wait") {
    weir::thread_pool pool(2);
    task_group group(pool);
    std::atomic<int> sum{0};
    for (int i = 1; i <= 1'000; ++i) group.spawn(add(sum, i));
    sync_wait(pool, group.join());
    CHECK(sum == 500'500);
}

TEST_CASE("many tasks, spawned and forked, on one worker and on several") {
    const unsigned workers = GENERATE(1U, 2U, 4U);
    weir::thread_pool pool(workers);
    task_group group(pool);
    std::atomic<int> sum{0};
    sync_wait(pool, spawn_many(group, sum, 20'000));
    CHECK(sum == 200'010'000);
    sum = 0;
    sync_wait(pool, fork_many(group, sum, 20'000));
    CHECK(sum == 200'010'000);
}

TEST_CASE("groups nest") {
    weir::thread_pool pool(3);
    std::atomic<int> leaves{0};
    sync_wait(pool, fork_tree(pool, leaves, 8));
    CHECK(leaves == 6'561);
}

TEST_CASE("a group on another executor runs its tasks there, and resumes its owner on the owner's executor") {
    weir::thread_pool pool(1);
    weir::blocking_pool io(2);
    struct body {
        static task<> check(weir::executor& expected, std::atomic<int>& right) {
            if (weir::detail::current_executor() == &expected) right.fetch_add(1);
            co_return;
        }
        static task<bool> run(weir::executor& home, weir::executor& away, std::atomic<int>& right) {
            task_group group(away);
            for (int i = 0; i < 50; ++i) group.spawn(check(away, right));
            for (int i = 0; i < 50; ++i) co_await group.fork(check(away, right));
            co_await group.join();
            co_return weir::detail::current_executor() == &home;
        }
    };
    std::atomic<int> right{0};
    CHECK(sync_wait(pool, body::run(pool, io, right)));
    CHECK(right == 100);
}

TEST_CASE("tasks of a group wait for each other") {
    weir::thread_pool pool(2);
    struct body {
        static task<> put(weir::channel<int>& c, int n) {
            for (int i = 0; i < n; ++i) {
                const bool taken = co_await c.put(int{i});
                static_cast<void>(taken);
            }
        }
        static task<> get(weir::channel<int>& c, int n, std::atomic<int>& sum) {
            for (int i = 0; i < n; ++i) {
                const auto item = co_await c.get();
                if (item) sum.fetch_add(*item);
            }
        }
        static task<> run(weir::executor& ex, std::atomic<int>& sum) {
            weir::channel<int> c(2);
            task_group group(ex);
            for (int i = 0; i < 8; ++i) {
                co_await group.fork(get(c, 100, sum));
                co_await group.fork(put(c, 100));
            }
            co_await group.join();
        }
    };
    std::atomic<int> sum{0};
    sync_wait(pool, body::run(pool, sum));
    CHECK(sum == 8 * 4'950);
}

namespace {

// Starts two tasks of the same group after a wait, and so on; all but the innermost wait once more at the end.
task<> grow(task_group& group, bool forks, int& ended, int depth) {
    co_await weir::yield();
    if (depth > 0) {
        for (int i = 0; i < 2; ++i) {
            task<> child = grow(group, forks, ended, depth - 1);
            if (forks) {
                co_await group.fork(std::move(child));
            } else {
                group.spawn(std::move(child));
            }
        }
        co_await weir::yield();
    }
    ++ended;
}

// As above, without waits: where a fork finds its task ended, it was in effect an await of the task.
task<> fork_at_once(task_group& group, int& ended, int depth) {
    for (int i = 0; i < 2 && depth > 0; ++i) co_await group.fork(fork_at_once(group, ended, depth - 1));
    ++ended;
}

}  // namespace

TEST_CASE("a join waits for the tasks that tasks of the group start during the join") {
    const bool forks = GENERATE(false, true);
    CAPTURE(forks);
    weir::run_loop loop;
    weir::virtual_time time;
    weir::thread_pool pool(1);
    weir::blocking_pool blocking(1);
    for (weir::executor* const ex : std::initializer_list<weir::executor*>{&loop, &time, &pool, &blocking}) {
        int ended = 0;
        int when_joined = 0;
        const auto owner = [&]() -> task<> {
            task_group group(*ex);
            for (int round = 0; round < 2; ++round) {
                group.spawn(grow(group, forks, ended, 3));
                co_await group.join();
                when_joined += std::exchange(ended, 0);
            }
        };
        sync_wait(*ex, owner());
        CHECK(when_joined == 2 * 15);
    }
}

TEST_CASE("a join ends though forks during the join were in effect awaits of their tasks") {
    weir::run_loop loop;
    weir::virtual_time time;
    weir::thread_pool pool(1);
    for (weir::executor* const ex : std::initializer_list<weir::executor*>{&time, &loop, &pool}) {
        int ended = 0;
        const auto late = [&](task_group& group) -> task<> {
            co_await weir::yield();
            co_await fork_at_once(group, ended, 4);
        };
        const auto owner = [&]() -> task<> {
            task_group group(*ex);
            co_await group.fork(fork_at_once(group, ended, 4));
            group.spawn(late(group));
            co_await group.join();
        };
        sync_wait(*ex, owner());
        CHECK(ended == 2 * 31);
    }
}

TEST_CASE("the destructor of a group waits for the tasks that tasks of the group start meanwhile") {
    const bool forks = GENERATE(false, true);
    weir::run_loop loop;
    weir::virtual_time time;
    for (weir::executor* const ex : std::initializer_list<weir::executor*>{&loop, &time}) {
        int ended = 0;
        {
            task_group group(*ex);
            group.spawn(grow(group, forks, ended, 3));
        }
        CHECK(ended == 15);
    }
}

TEST_CASE("tasks of a group that wait for ever are reported as a deadlock") {
    static auto& never = *new weir::channel<int>(1);
    weir::virtual_time time;
    const auto owner = [&]() -> task<> {
        task_group group(time);
        group.spawn(wait_on(never));
        group.spawn(wait_on(never));
        co_await group.join();
    };
    CHECK_THROWS_WITH(weir::sync_wait(time, owner()),
                      Catch::Matchers::ContainsSubstring(
                          "channel (unnamed) is empty, 0 of 1: 2 coroutines wait to get"));
}

TEST_CASE("after a join that ended in a deadlock, the group can be joined again") {
    const auto get = [](weir::channel<int>& items, int& got) -> task<> {
        if ((co_await items.get()).has_value()) ++got;
    };
    const auto is_deadlock = Catch::Matchers::ContainsSubstring("is empty, 0 of 4: 2 coroutines wait to get");
    weir::channel<int> items(4);
    int got = 0;
    weir::virtual_time time;
    {
        task_group group(time);
        group.spawn(get(items, got));
        group.spawn(get(items, got));
        CHECK_THROWS_WITH(weir::sync_wait(time, group.join()), is_deadlock);
        CHECK_THROWS_WITH(weir::sync_wait(time, group.join()), is_deadlock);
        CHECK(items.try_put(1) == weir::channel_status::success);
        CHECK_THROWS_AS(weir::sync_wait(time, group.join()), weir::deadlock_error);
        CHECK(got == 1);
        group.spawn(fail("after the deadlock"));
        CHECK(items.try_put(2) == weir::channel_status::success);
        CHECK_THROWS_WITH(weir::sync_wait(time, group.join()), "after the deadlock");
        CHECK(got == 2);
        weir::sync_wait(time, group.join());

        group.spawn(get(items, got));
        CHECK_THROWS_AS(weir::sync_wait(time, group.join()), weir::deadlock_error);
        CHECK(items.try_put(3) == weir::channel_status::success);
        time.run();  // the task ends when nobody joins
        weir::sync_wait(time, group.join());
        CHECK(got == 3);

        group.spawn(get(items, got));
        CHECK_THROWS_AS(weir::sync_wait(time, group.join()), weir::deadlock_error);
        CHECK(items.try_put(4) == weir::channel_status::success);
    }
    CHECK(got == 4);  // the destructor has waited
}

TEST_CASE("a join on virtual time of tasks on a pool gives up, and the destructor waits for the tasks") {
    const auto get = [](weir::channel<int>& items, std::atomic<int>& got) -> task<> {
        if ((co_await items.get()).has_value()) got.fetch_add(1);
    };
    weir::thread_pool pool(1);
    weir::channel<int> items(4);
    std::atomic<int> got{0};
    weir::virtual_time time;
    {
        task_group group(pool);
        group.spawn(get(items, got));
        CHECK_THROWS_AS(weir::sync_wait(time, group.join()), weir::deadlock_error);
        CHECK(items.try_put(1) == weir::channel_status::success);
        weir::sync_wait(pool, group.join());
        CHECK(got == 1);
        group.spawn(get(items, got));
        CHECK_THROWS_AS(weir::sync_wait(time, group.join()), weir::deadlock_error);
        CHECK(items.try_put(2) == weir::channel_status::success);
    }
    CHECK(got == 2);
}

TEST_CASE("an exception between spawn and join waits for the tasks that were spawned") {
    struct body {
        static task<> count(std::atomic<int>& ended) {
            co_await weir::sleep_for(1ms);
            ended.fetch_add(1);
        }
        static task<> owner(weir::executor& ex, std::atomic<int>& ended) {
            task_group group(ex);
            for (int i = 0; i < 5; ++i) group.spawn(count(ended));
            group.spawn(fail("dropped"));
            throw std::runtime_error("between");
        }
        static task<int> ended_when_caught(weir::executor& ex) {
            std::atomic<int> ended{0};
            try {
                co_await owner(ex, ended);
            } catch (const std::runtime_error& e) {
                if (std::string(e.what()) != "between") co_return -1;
            }
            co_return ended.load();
        }
    };
    weir::virtual_time time;
    CHECK(sync_wait(time, body::ended_when_caught(time)) == 5);
    for (const unsigned workers : {1U, 2U}) {
        weir::thread_pool pool(workers);
        CHECK(sync_wait(pool, body::ended_when_caught(pool)) == 5);
        weir::thread_pool other(1);
        CHECK(sync_wait(pool, body::ended_when_caught(other)) == 5);
    }
}

TEST_CASE("a group that nobody joins waits for its tasks in its destructor, once") {
    std::atomic<int> sum{0};
    weir::thread_pool pool(2);
    for (int round = 0; round < 200; ++round) {
        task_group group(pool);
        for (int i = 0; i < 3; ++i) group.spawn(add(sum, 1));
    }
    CHECK(sum == 600);
    const task_group nothing_spawned(pool);
}

TEST_CASE("the destructor of a group leaves tasks that wait for ever, and doesn't replace an exception") {
    static auto& never = *new weir::channel<int>(1);
    weir::virtual_time time;
    const auto owner = [&]() -> task<> {
        task_group group(time);
        group.spawn(wait_on(never));
        throw std::runtime_error("between");
    };
    CHECK_THROWS_WITH(weir::sync_wait(time, owner()), "between");
}

TEST_CASE("forked tasks end on the thread of the fork or on another one, and a join waits for both") {
    for (const unsigned workers : {1U, 2U, 4U}) {
        CAPTURE(workers);
        weir::thread_pool pool(workers);
        std::atomic<int> sum{0};
        task_group group(pool);
        const auto waits = [&]() -> task<> {
            co_await weir::yield();
            sum.fetch_add(1);
        };
        const auto forks = [&]() -> task<> {
            for (int i = 0; i < 100; ++i) {
                co_await group.fork(waits());
                co_await group.fork(add(sum, 1));
                co_await group.fork(add(sum, 1));
            }
            co_await group.join();
            CHECK(sum == 300);
            // Nothing is left to wait for where all have ended on the way.
            for (int i = 0; i < 300; ++i) co_await group.fork(add(sum, 1));
            co_await group.join();
            CHECK(sum == 600);
        };
        sync_wait(pool, forks());
    }
}

TEST_CASE("a forked task's exception is kept though it ended at once") {
    weir::thread_pool pool(1);
    task_group group(pool);
    const auto fails = []() -> task<> {
        throw std::runtime_error("at once");
        co_return;
    };
    const auto forks = [&]() -> task<> {
        co_await group.fork(fails());
        co_await group.join();
    };
    CHECK_THROWS_WITH(sync_wait(pool, forks()), "at once");
}

namespace {

std::vector<std::string> heard;

// Hears what nobody joins, for as long as it lives.
class listener {
  public:
    listener() { heard.clear(); }
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    ~listener() { weir::set_unjoined_sink(before_); }

  private:
    static void hear(const std::exception_ptr& first, std::size_t count) noexcept {
        try {
            std::rethrow_exception(first);
        } catch (const std::exception& e) {
            heard.push_back(std::to_string(count) + ": " + e.what());
        }
    }
    const weir::unjoined_sink before_ = weir::set_unjoined_sink(&hear);
};

task<> fails(std::string why, weir::duration after) {
    co_await weir::sleep_for(after);
    throw std::runtime_error(why);
}

}  // namespace

TEST_CASE(
    "a group that was not joined gives the unjoined sink the first exception of its tasks, and their "
    "number") {
    const listener told;
    virtual_time time;
    {
        task_group group(time);
        group.spawn(fails("late", 2ms));
        group.spawn(fails("early", 1ms));
        group.spawn([]() -> task<> { co_return; }());
        CHECK(heard.empty());
    }
    CHECK(heard == std::vector<std::string>{"2: early"});
}

TEST_CASE("a group that was joined doesn't call the unjoined sink, unless later tasks fail") {
    const listener told;
    virtual_time time;
    {
        task_group group(time);
        group.spawn(fails("joined", 1ms));
        CHECK_THROWS_WITH(sync_wait(time, [](task_group& g) -> task<> { co_await g.join(); }(group)),
                          "joined");
        CHECK(heard.empty());
        group.spawn(fails("later", 1ms));
    }
    CHECK(heard == std::vector<std::string>{"1: later"});
}

TEST_CASE("an exception between spawn and join hides no exception of a task") {
    const listener told;
    weir::thread_pool pool(2);
    try {
        task_group group(pool);
        group.spawn(fails("of a task", 0ms));
        throw std::logic_error("of the caller");
    } catch (const std::logic_error&) {
        CHECK(heard == std::vector<std::string>{"1: of a task"});
    }
}

TEST_CASE("without a sink nothing is called, nor if all tasks succeeded") {
    const listener told;
    virtual_time time;
    {
        task_group group(time);
        group.spawn([]() -> task<> { co_return; }());
    }
    CHECK(heard.empty());
    const weir::unjoined_sink before = weir::set_unjoined_sink(nullptr);
    {
        task_group group(time);
        group.spawn(fails("unheard", 1ms));
    }
    CHECK(heard.empty());
    CHECK(weir::set_unjoined_sink(before) == nullptr);
}
