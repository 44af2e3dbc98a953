// Threads that find work, sleep, are woken, and end.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include "support/detached.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

using interleavings::block;
using interleavings::block_until;
using interleavings::count;
using interleavings::ms;
using interleavings::require;
using interleavings::require_by;
using interleavings::thread;
using interleavings::us;
using weir::task;
using weir::task_group;
using namespace std::chrono_literals;

task<> adds_to(int& sum) {
    ++sum;
    co_return;
}

// Two threads that are none of the pool's post to it while its own run out of work and go to sleep.
template <class Pool>
void posts() {
    Pool pool(2);
    int sum = 0;
    thread other([&] { weir::sync_wait(pool, adds_to(sum)); });
    for (int i = 0; i < 2; ++i) weir::sync_wait(pool, adds_to(sum));
    other.join();
    require(sum == 3, "all ran, once");
}

// All sleep; one post wakes one.
template <class Pool>
void wakes_a_sleeper() {
    Pool pool(2);
    block(10 * ms);
    int sum = 0;
    const std::int64_t begin = count.now;
    weir::sync_wait(pool, adds_to(sum));
    require_by(begin, 500 * us, "nothing but a lost wake-up takes so long");
    require(sum == 1, "it ran");
}

// Destroyed with work that nobody waits for, or none at all.
template <class Pool>
void ends(int tasks) {
    int sum = 0;
    {
        Pool pool(2);
        task_group group(pool);
        for (int i = 0; i < tasks; ++i) group.spawn(adds_to(sum));
        if (tasks != 0) weir::sync_wait(pool, group.join());
    }
    require(sum == tasks, "what was posted ran");
}
template <class Pool>
void ends_at_once() {
    ends<Pool>(0);
}
template <class Pool>
void ends_after_work() {
    ends<Pool>(3);
}

// Coroutines that keep their threads until all are under way: idle workers have to come for them.
task<> meets(int& here, int all) {
    ++here;
    while (here < all) block(20 * us);
    co_return;
}
template <class Pool, unsigned Workers = 2>
void work_is_shared() {
    Pool pool(Workers);
    int here = 0;
    task_group group(pool);
    const auto whole = [&]() -> task<> {
        for (unsigned i = 0; i < Workers; ++i) group.spawn(meets(here, Workers));
        co_await group.join();
    };
    const std::int64_t begin = count.now;
    weir::sync_wait(pool, whole());
    require_by(begin, Workers * 2 * ms, "an idle worker takes over within a millisecond");
}

// The same, posted from outside by two.
template <class Pool>
void posts_meet() {
    Pool pool(2);
    int here = 0;
    const std::int64_t begin = count.now;
    thread other([&] { weir::sync_wait(pool, meets(here, 2)); });
    weir::sync_wait(pool, meets(here, 2));
    require_by(begin, 3 * ms, "an idle worker takes over within a millisecond");
    other.join();
}

// Thieves come for what its owner is about to take.
template <class Pool>
void forks_are_stolen() {
    Pool pool(2);
    int sum = 0;
    task_group group(pool);
    const auto whole = [&]() -> task<> {
        for (int i = 0; i < 3; ++i) group.spawn(adds_to(sum));
        block(static_cast<std::int64_t>(interleavings::draw(40)) * us);
        co_await group.join();
    };
    weir::sync_wait(pool, whole());
    require(sum == 3, "each ran once");
}

// Hands a thread back and forth.
task<> yields(int times, int& sum) {
    for (int i = 0; i < times; ++i) {
        co_await weir::yield();
        ++sum;
    }
}
template <class Pool>
void yields_of_two() {
    Pool pool(2);
    int sum = 0;
    task_group group(pool);
    group.spawn(yields(2, sum));
    group.spawn(yields(2, sum));
    weir::sync_wait(pool, group.join());
    require(sum == 4, "each went on as often as it gave way");
}

task<> sleeps(weir::duration d, std::int64_t& woke) {
    co_await weir::sleep_for(d);
    woke = count.now;
}
task<> blocks_until(std::int64_t instant) {
    block_until(instant);
    co_return;
}

// A timer that is due while all sleep; then one that is earlier than the one that is waited for.
template <class Pool>
void timers() {
    Pool pool(2);
    const std::int64_t begin = count.now;
    std::int64_t first = 0, second = 0;
    task_group group(pool);
    group.spawn(sleeps(20ms, second));
    block(3 * ms);
    group.spawn(sleeps(5ms, first));
    weir::sync_wait(pool, group.join());
    require(first >= begin + 8 * ms && second >= begin + 20 * ms, "none is early");
    if (!interleavings::strict()) return;
    require(first <= begin + 10 * ms, "the one that came later is served first");
    require(second <= begin + 22 * ms, "a timer is served on time");
}

// Suspends a coroutine for whoever wakes it by hand.
struct handed_over {
    explicit handed_over(std::coroutine_handle<>& to) noexcept : handle(&to) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept {
        *handle = h;
        there.set();
    }
    void await_resume() const noexcept {}
    std::coroutine_handle<>* handle;
    weir::detail::parker there;
};

// A thread that is none of the pool's adds a timer while all come to rest. `is_due`: since ever.
template <class Pool>
void timer_from_outside(bool is_due) {
    Pool pool(2);
    std::coroutine_handle<> sleeper;
    handed_over wait(sleeper);
    std::int64_t woke = 0;
    task_group group(pool);
    const auto sleep = [&]() -> task<> {
        co_await wait;
        woke = count.now;
    };
    group.spawn(sleep());
    while (!wait.there.wait()) {
    }
    block(static_cast<std::int64_t>(interleavings::draw(60)) * us);
    const std::int64_t due = count.now + (is_due ? 0 : 5 * ms);
    weir::timer t(is_due ? weir::time_point::min() : weir::time_point(weir::duration(due)), sleeper);
    pool.add(t);
    block_until(due + 2 * ms);
    if (interleavings::strict()) require(woke >= due && woke <= due + 1 * ms, "the timer is served on time");
    weir::sync_wait(pool, group.join());
}

template <class Pool>
void timer_is_set() {
    timer_from_outside<Pool>(false);
}
template <class Pool>
void timer_is_due() {
    timer_from_outside<Pool>(true);
}

// While one thread comes to rest the other, which waited for the timer, is called to where it blocks for long:
// the timer is served by who is free.
template <class Pool>
void timer_beside_blockers() {
    Pool pool(2);
    const std::int64_t begin = count.now;
    std::int64_t woke = 0;
    task_group group(pool);
    group.spawn(sleeps(10ms, woke));
    block_until(begin + 1 * ms);
    group.spawn(blocks_until(begin + 2 * ms));
    block_until(begin + 2 * ms);
    group.spawn(blocks_until(begin + 20 * ms));
    block_until(begin + 15 * ms);
    weir::sync_wait(pool, group.join());
    if (interleavings::strict())
        require(woke != 0 && woke < begin + 15 * ms, "a thread was free when the timer was due");
}

// A pool is destroyed as soon as what a thread of others has given to it has run, while that thread may still be
// inside of the call.
template <class Pool, class Give>
void is_gone_after(Give give) {
    std::coroutine_handle<> visitor;
    handed_over wait(visitor);
    weir::detail::parker over;
    std::optional<Pool> pool;
    pool.emplace(1U);
    const auto visit = [&]() -> task<> {
        co_await wait;
        over.set();
    };
    // Keeps the worker awake, which so needs nobody to call it.
    const auto stir = [&]() -> task<> {
        for (int i = 0; i < 100 && !over.is_set(); ++i) co_await weir::yield();
    };
    std::optional<task_group> group;
    group.emplace(*pool);
    group->spawn(visit());
    while (!wait.there.wait()) {
    }
    group->spawn(stir());
    std::optional<weir::timer> soon;
    thread other([&] { give(*pool, visitor, soon); });
    while (!over.wait()) {
    }
    group.reset();
    pool.reset();
    other.join();
}
template <class Pool>
void is_gone_after_a_post() {
    is_gone_after<Pool>(
        [](Pool& pool, std::coroutine_handle<> h, std::optional<weir::timer>&) { pool.post(h); });
}
template <class Pool>
void is_gone_after_a_timer() {
    is_gone_after<Pool>([](Pool& pool, std::coroutine_handle<> h, std::optional<weir::timer>& soon) {
        soon.emplace(pool.now() + 1us, h);
        pool.add(*soon);
    });
}

// A sleep that is called off from outside.
task<> sleeps_until_stopped(weir::stop_token stop) { co_await weir::sleep_for(1h, stop); }
template <class Pool>
void sleep_is_stopped() {
    Pool pool(2);
    weir::stop_source source;
    thread other([&] { source.request_stop(); });
    const std::int64_t begin = count.now;
    weir::sync_wait(pool, sleeps_until_stopped(source.get_token()));
    require_by(begin, 3 * ms, "it ends at once");
    other.join();
}

// Two coroutines of one worker block it, each until the other has done something: others work in its place.
template <class Pool>
void wait_for_each_other() {
    Pool pool(1);
    bool first = false, second = false;
    const auto sets = [](bool& flag) -> task<> {
        flag = true;
        co_return;
    };
    const auto sees = [](bool& flag) -> task<> {
        while (!flag) co_await weir::sleep_for(20us);
    };
    const auto one = [&](bool& mine, bool& its) -> task<> {
        weir::sync_wait(pool, sets(mine));
        weir::sync_wait(pool, sees(its));
        co_return;
    };
    weir::sync_wait(pool, weir::when_all(one(first, second), one(second, first)));
    require(first && second, "both went on");
}

detached posts_itself(weir::executor& pool, int& sum) {
    co_await weir::schedule(pool);
    ++sum;
}

// The pool is told to end while one of its threads has left its place, and what that posts then still runs.
template <class Pool>
void waits_while_it_ends() {
    int sum = 0;
    const auto waits = [&sum](weir::executor& pool) -> detached {
        co_await weir::schedule(pool);
        weir::sync_wait(pool, weir::sleep_for(10us));
        posts_itself(pool, sum);
    };
    {
        Pool pool(1);
        waits(pool);
    }
    require(sum == 1, "what was posted last ran");
}

// The same after a thread was added to the pool, as all were stuck: the pool has one thread more at its end.
template <class Pool>
void ends_with_an_added_thread() {
    std::atomic<int> sum{0};
    const auto waits = [&sum](weir::executor& pool) -> detached {
        co_await weir::schedule(pool);
        weir::sync_wait(pool, weir::sleep_for(80ms));
        sum.fetch_add(1, std::memory_order_relaxed);
    };
    const auto blocks = [&sum](weir::executor& pool) -> detached {
        co_await weir::schedule(pool);
        block(60 * ms);
        sum.fetch_add(1, std::memory_order_relaxed);
    };
    {
        Pool pool(1);
        waits(pool);
        for (int i = 0; i < 2; ++i) blocks(pool);
        block(40 * ms);
    }
    require(sum.load(std::memory_order_relaxed) == 3, "all ran");
}

// Workers go and come while one has left its place.
void waits_while_workers_change() {
    int sum = 0;
    {
        weir::thread_pool pool(2, {.most_workers = 2});
        const auto waits = [&]() -> task<> {
            weir::sync_wait(pool, weir::sleep_for(10us));
            ++sum;
            co_return;
        };
        thread other([&] {
            pool.set_workers(1);
            pool.set_workers(2);
        });
        weir::sync_wait(pool, weir::when_all(waits(), waits()));
        other.join();
    }
    require(sum == 2, "all ran");
}

// A coroutine's thread waits for another one on the same pool of one: a second thread works in its place.
template <class Pool>
void waits_inside() {
    Pool pool(1);
    int sum = 0;
    const auto inner = [&]() -> task<> {
        co_await weir::yield();
        ++sum;
    };
    const auto outer = [&]() -> task<> {
        weir::sync_wait(pool, adds_to(sum));
        weir::sync_wait(pool, inner());
        ++sum;
        co_return;
    };
    weir::sync_wait(pool, outer());
    require(sum == 3, "all ran");
}

task<int> gives(int n) {
    co_await weir::yield();
    co_return n;
}
template <class Pool>
void joins() {
    Pool pool(2);
    const auto all = [&]() -> task<int> {
        const auto [a, b] = co_await weir::when_all(gives(1), gives(2));
        co_return a + b;
    };
    require(weir::sync_wait(pool, all()) == 3, "both results");
}

// Parts end where they began, are stolen, wait, and have parts themselves.
task<int> counts_leaves(int depth) {
    if (depth == 0) {
        const std::uint64_t how = interleavings::draw(4);
        if (how == 0) block(static_cast<std::int64_t>(interleavings::draw(60)) * us);
        if (how == 1) co_await weir::yield();
        co_return 1;
    }
    const auto [a, b] = co_await weir::when_all(counts_leaves(depth - 1), counts_leaves(depth - 1));
    co_return a + b;
}
template <class Pool>
void parts_are_stolen() {
    Pool pool(2);
    require(weir::sync_wait(pool, counts_leaves(2)) == 4, "each leaf once");
}
task<int> counts_three() {
    std::vector<task<int>> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(counts_leaves(0));
    int sum = 0;
    for (const int each : co_await weir::when_all(std::move(parts))) sum += each;
    co_return sum;
}
template <class Pool>
void parts_of_many_are_stolen() {
    Pool pool(2);
    require(weir::sync_wait(pool, counts_three()) == 3, "each part once");
}

// Who forks goes on where the task has ended, or has been taken to elsewhere by then.
task<> adds_one(std::atomic<int>& sum) {
    const std::uint64_t how = interleavings::draw(3);
    if (how == 0) block(static_cast<std::int64_t>(interleavings::draw(60)) * us);
    if (how == 1) co_await weir::yield();
    sum.fetch_add(1, std::memory_order_relaxed);
}
template <class Pool>
void forkers_are_stolen() {
    Pool pool(2);
    std::atomic<int> sum{0};
    task_group group(pool);
    const auto whole = [&]() -> task<> {
        for (int i = 0; i < 3; ++i) co_await group.fork(adds_one(sum));
        co_await group.join();
        require(sum.load(std::memory_order_relaxed) == 3, "a join waits for all");
    };
    weir::sync_wait(pool, whole());
}

// The number of workers changes: whoever sleeps, keeps the watch or works when it is one too many.
void more_workers_share() {
    weir::thread_pool pool(1, {.most_workers = 2});
    block(static_cast<std::int64_t>(interleavings::draw(60)) * us);
    pool.set_workers(2);
    int here = 0;
    task_group group(pool);
    const std::int64_t begin = count.now;
    for (int i = 0; i < 2; ++i) group.spawn(meets(here, 2));
    weir::sync_wait(pool, group.join());
    require_by(begin, 4 * ms, "the one that came takes over within a millisecond");
}
void worker_goes_from_its_sleep() {
    int begun = 0;
    weir::thread_pool pool(2, {.on_thread_start = [&begun](unsigned) { ++begun; }});
    block(10 * ms);
    pool.set_workers(1);
    int sum = 0;
    for (int i = 0; i < 2; ++i) {
        const std::int64_t begin = count.now;
        weir::sync_wait(pool, adds_to(sum));
        require_by(begin, 500 * us, "nothing but a lost wake-up takes so long");
        block(10 * ms);
    }
    require(sum == 2, "all ran");
    pool.set_workers(2);
    if (interleavings::strict()) require(begun == 3, "one had gone, whether it slept or kept the watch");
}
void workers_come_and_go() {
    weir::thread_pool pool(2);
    std::atomic<int> sum{0};
    task_group group(pool);
    thread other([&] {
        for (const unsigned n : {1U, 2U, 1U}) pool.set_workers(n);
    });
    const auto whole = [&]() -> task<> {
        for (int i = 0; i < 3; ++i) group.spawn(adds_one(sum));
        for (int i = 0; i < 2; ++i) co_await group.fork(adds_one(sum));
        co_await group.join();
    };
    weir::sync_wait(pool, whole());
    other.join();
    require(sum.load(std::memory_order_relaxed) == 5, "each ran once");
    require(pool.workers() == 1, "the last word counts");
}
task<> sets(weir::thread_pool& pool, unsigned workers) {
    pool.set_workers(workers);
    co_return;
}
void workers_change_themselves() {
    weir::thread_pool pool(2);
    thread other([&] { pool.set_workers(1); });
    for (const unsigned n : {1U, 2U}) weir::sync_wait(pool, sets(pool, n));
    other.join();
    int sum = 0;
    weir::sync_wait(pool, adds_to(sum));
    require(sum == 1, "it ran");
}
void timer_outlives_workers() {
    weir::thread_pool pool(2);
    const std::int64_t begin = count.now;
    std::int64_t woke = 0;
    task_group group(pool);
    group.spawn(sleeps(10ms, woke));
    block(static_cast<std::int64_t>(interleavings::draw(60)) * us);
    pool.set_workers(1);
    weir::sync_wait(pool, group.join());
    require(woke >= begin + 10 * ms, "it is not early");
    if (interleavings::strict()) require(woke <= begin + 12 * ms, "a timer is served on time");
}
void ends_while_workers_change() {
    std::atomic<int> sum{0};
    {
        weir::thread_pool pool(2);
        task_group group(pool);
        const auto changes = [&]() -> task<> {
            for (const unsigned n : {1U, 2U}) {
                pool.set_workers(n);
                co_await adds_one(sum);
            }
        };
        group.spawn(changes());
        group.spawn(adds_one(sum));
        weir::sync_wait(pool, group.join());
        group.spawn(adds_one(sum));
        weir::sync_wait(pool, group.join());
        pool.set_workers(1);
    }
    require(sum.load(std::memory_order_relaxed) == 4, "all ran");
}

const interleavings::registered threads(
    "pools", {
                 {"posts", posts<weir::thread_pool>},
                 {"wakes_a_sleeper", wakes_a_sleeper<weir::thread_pool>},
                 {"ends_at_once", ends_at_once<weir::thread_pool>},
                 {"ends_after_work", ends_after_work<weir::thread_pool>},
                 {"work_is_shared", work_is_shared<weir::thread_pool>},
                 {"work_is_shared_by_three", work_is_shared<weir::thread_pool, 3>},
                 {"posts_meet", posts_meet<weir::thread_pool>},
                 {"forks_are_stolen", forks_are_stolen<weir::thread_pool>},
                 {"yields", yields_of_two<weir::thread_pool>},
                 {"timer_from_outside", timer_is_set<weir::thread_pool>},
                 {"timer_is_due", timer_is_due<weir::thread_pool>},
                 {"timers", timers<weir::thread_pool>},
                 {"timer_beside_blockers", timer_beside_blockers<weir::thread_pool>},
                 {"is_gone_after_a_post", is_gone_after_a_post<weir::thread_pool>},
                 {"is_gone_after_a_timer", is_gone_after_a_timer<weir::thread_pool>},
                 {"sleep_is_stopped", sleep_is_stopped<weir::thread_pool>},
                 {"waits_inside", waits_inside<weir::thread_pool>},
                 {"wait_for_each_other", wait_for_each_other<weir::thread_pool>},
                 {"waits_while_it_ends", waits_while_it_ends<weir::thread_pool>},
                 {"ends_with_an_added_thread", ends_with_an_added_thread<weir::thread_pool>},
                 {"waits_while_workers_change", waits_while_workers_change},
                 {"joins", joins<weir::thread_pool>},
                 {"parts_are_stolen", parts_are_stolen<weir::thread_pool>},
                 {"parts_of_many_are_stolen", parts_of_many_are_stolen<weir::thread_pool>},
                 {"forkers_are_stolen", forkers_are_stolen<weir::thread_pool>},
                 {"more_workers_share", more_workers_share},
                 {"worker_goes_from_its_sleep", worker_goes_from_its_sleep},
                 {"workers_come_and_go", workers_come_and_go},
                 {"workers_change_themselves", workers_change_themselves},
                 {"timer_outlives_workers", timer_outlives_workers},
                 {"ends_while_workers_change", ends_while_workers_change},
             });
const interleavings::registered blockers(
    "pools", {
                 {"blocking_posts", posts<weir::blocking_pool>},
                 {"blocking_wakes_a_sleeper", wakes_a_sleeper<weir::blocking_pool>},
                 {"blocking_ends_at_once", ends_at_once<weir::blocking_pool>},
                 {"blocking_ends_after_work", ends_after_work<weir::blocking_pool>},
                 {"blocking_work_is_shared", work_is_shared<weir::blocking_pool>},
                 {"blocking_work_is_shared_by_three", work_is_shared<weir::blocking_pool, 3>},
                 {"blocking_posts_meet", posts_meet<weir::blocking_pool>},
                 {"blocking_yields", yields_of_two<weir::blocking_pool>},
                 {"blocking_timer_from_outside", timer_is_set<weir::blocking_pool>},
                 {"blocking_timer_is_due", timer_is_due<weir::blocking_pool>},
                 {"blocking_timers", timers<weir::blocking_pool>},
                 {"blocking_timer_beside_blockers", timer_beside_blockers<weir::blocking_pool>},
                 {"blocking_is_gone_after_a_post", is_gone_after_a_post<weir::blocking_pool>},
                 {"blocking_is_gone_after_a_timer", is_gone_after_a_timer<weir::blocking_pool>},
                 {"blocking_sleep_is_stopped", sleep_is_stopped<weir::blocking_pool>},
                 {"blocking_waits_inside", waits_inside<weir::blocking_pool>},
                 {"blocking_wait_for_each_other", wait_for_each_other<weir::blocking_pool>},
                 {"blocking_waits_while_it_ends", waits_while_it_ends<weir::blocking_pool>},
                 {"blocking_ends_with_an_added_thread", ends_with_an_added_thread<weir::blocking_pool>},
                 {"blocking_joins", joins<weir::blocking_pool>},
             });

}  // namespace
