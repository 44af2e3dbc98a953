#include <weir/executor/thread_pool.hpp>

#include "support/catch.hpp"
#include "support/detached.hpp"
#include "support/pools.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using pools::meagre_platform;
using weir::task;
using weir::thread_pool;

static_assert(std::is_base_of_v<weir::executor, thread_pool>);
static_assert(!std::is_copy_constructible_v<thread_pool>);

namespace {

detached count_on(weir::executor& ex, std::atomic<int>& count) {
    co_await weir::schedule(ex);
    count.fetch_add(1);
}

task<std::thread::id> where() { co_return std::this_thread::get_id(); }

// A worker that is about to see whether its pool is to end waits there, once, until it is.
struct late_look_platform : weir::detail::standard_platform {
    static inline std::atomic<bool> armed{false};
    static inline std::atomic<bool> looks{false};

    struct flag : std::atomic<bool> {
        using std::atomic<bool>::atomic;
        bool load(std::memory_order order) const noexcept {
            if (armed.exchange(false)) {
                looks = true;
                while (!std::atomic<bool>::load()) yield();
            }
            return std::atomic<bool>::load(order);
        }
    };
    template <class T>
    using atomic = std::conditional_t<std::is_same_v<T, bool>, flag, std::atomic<T>>;
};

// A clock on which all tasks are short, however slow the machine is.
struct slow_clock_platform : weir::detail::standard_platform {
    static std::int64_t now() noexcept { return weir::detail::standard_platform::now() / 100; }
};
using basic_lent_pool = weir::basic_thread_pool<slow_clock_platform>;

// Asks for a place, as a consumer does, so often at most. Returns whether a coroutine was resumed on this thread.
bool is_lent(weir::executor& pool, int attempts) {
    struct state {
        std::thread::id asker = std::this_thread::get_id();
        weir::detail::parker done;
        std::atomic<bool> given_up = false;
        std::atomic<bool> ended = false;
        bool was_here = false;

        static detached comes(weir::executor& pool, state& s) {
            do {
                co_await weir::schedule(pool);
                s.was_here = std::this_thread::get_id() == s.asker;
            } while (!s.was_here && !s.given_up);
            s.done.set();
            s.ended = true;
        }
    };
    state s;
    state::comes(pool, s);
    while (attempts-- > 0 && !pool.lend_place(s.done)) std::this_thread::yield();
    s.given_up = true;
    while (!s.ended) std::this_thread::yield();
    return s.was_here;
}
constexpr int enough = 100'000'000;
constexpr int some = 5'000;

template <class F>
std::string message_of(F&& f) {
    try {
        f();
    } catch (const std::exception& e) {
        return e.what();
    }
    return {};
}

}  // namespace

TEST_CASE("a pool has as many workers as asked for, one a core by default, and never none") {
    CHECK(thread_pool(3).workers() == 3);
    CHECK(thread_pool().workers() == weir::detail::standard_platform::concurrency());
    CHECK_THROWS_AS(thread_pool(0), std::invalid_argument);
    CHECK_THROWS_AS(thread_pool(static_cast<unsigned>(-1)), std::invalid_argument);
    CHECK(message_of([] { thread_pool pool(0); }).find("ask for at least 1") != std::string::npos);
}

TEST_CASE("default options of pools have no hook, and the default maximum of workers") {
    const weir::thread_pool_options options;
    CHECK(options.most_workers == 0);
    CHECK_FALSE(options.on_thread_start);
    CHECK_FALSE(weir::blocking_pool_options().on_thread_start);
}

TEST_CASE("a pool runs coroutines on its own threads") {
    thread_pool pool(1);
    const auto first = weir::sync_wait(pool, where());
    const auto second = weir::sync_wait(pool, where());
    CHECK(first != std::this_thread::get_id());
    CHECK(first == second);
}

TEST_CASE("the destructor of a pool runs all posted coroutines") {
    for (const unsigned workers : {1U, 2U, 4U}) {
        CAPTURE(workers);
        std::atomic<int> count{0};
        {
            thread_pool pool(workers);
            for (int i = 0; i < 1'000; ++i) count_on(pool, count);
        }
        CHECK(count.load() == 1'000);
    }
}

TEST_CASE("the destructor of a pool runs coroutines that were posted after the last search") {
    using platform = late_look_platform;
    std::atomic<int> count{0};
    platform::looks = false;
    platform::armed = true;
    {
        weir::basic_thread_pool<platform> pool(1);
        while (!platform::looks) std::this_thread::yield();
        count_on(pool, count);
    }
    CHECK(count == 1);
}

TEST_CASE("post does not resume the coroutine inside the call") {
    struct seen {
        static detached post_on_own_worker(thread_pool& pool, std::vector<int>& log,
                                           weir::detail::parker& done) {
            co_await weir::schedule(pool);
            other(pool, log);
            log.push_back(1);
            last(pool, log, done);
            log.push_back(2);
        }
        static detached other(thread_pool& pool, std::vector<int>& log) {
            co_await weir::schedule(pool);
            log.push_back(4);
        }
        static detached last(thread_pool& pool, std::vector<int>& log, weir::detail::parker& done) {
            co_await weir::schedule(pool);
            log.push_back(3);  // before the other: the slot goes to who was posted last
            co_await weir::schedule(pool);
            done.set();
        }
    };
    std::vector<int> log;
    weir::detail::parker done;
    thread_pool pool(1);
    seen::post_on_own_worker(pool, log, done);
    done.wait();
    CHECK(log == std::vector<int>{1, 2, 3, 4});
}

namespace {

// Posts its successor for ever: the two would own the slot.
detached chatter(thread_pool& pool, const std::atomic<bool>& stop, std::atomic<std::uint64_t>& said) {
    co_await weir::schedule(pool);
    said.fetch_add(1, std::memory_order_relaxed);
    if (!stop.load()) chatter(pool, stop, said);
}

// Is always in the queue.
detached yielder(thread_pool& pool, const std::atomic<bool>& stop) {
    while (!stop.load()) co_await weir::schedule(pool);
}

detached measure(thread_pool& pool, const std::atomic<std::uint64_t>& said, std::uint64_t& waited,
                 weir::detail::parker& done) {
    co_await weir::schedule(pool);
    std::uint64_t most = 0;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t before = said.load();
        co_await weir::schedule(pool);
        const std::uint64_t n = said.load() - before;
        if (n > most) most = n;
    }
    waited = most;
    done.set();
}

}  // namespace

TEST_CASE("coroutines that keep the slot busy starve neither the queue nor posts from outside") {
    std::atomic<bool> stop{false};  // outlives the pool, whose destructor runs the last of them
    std::atomic<std::uint64_t> said{0};
    thread_pool pool(1);
    chatter(pool, stop, said);
    std::uint64_t waited = 0;
    weir::detail::parker done;
    measure(pool, said, waited, done);  // is posted from outside
    done.wait();
    CHECK(waited <= 4 + 3);  // one may be queued before it, and the slot's three go first
    yielder(pool, stop);
    yielder(pool, stop);
    for (int i = 0; i < 100; ++i) weir::sync_wait(pool, where());  // the queue is never empty now
    stop = true;
}

TEST_CASE("a coroutine behind n others starts after at most 5 n + 4 resumptions of its worker") {
    struct body {
        // Each of those in the queue has one in the slot after it, who posts his successor for ever.
        static detached talk(thread_pool& pool, const std::atomic<bool>& stop,
                             std::atomic<std::uint64_t>& resumed) {
            co_await weir::schedule(pool);
            resumed.fetch_add(1);
            if (!stop.load()) talk(pool, stop, resumed);
        }
        static task<std::uint64_t> wait_behind(thread_pool& pool, std::uint64_t n,
                                               std::atomic<std::uint64_t>& resumed) {
            co_await weir::schedule(pool);  // from here on what it posts is a yield
            std::atomic<bool> stop{false};
            for (std::uint64_t i = 0; i < n; ++i) talk(pool, stop, resumed);
            const std::uint64_t before = resumed.load();
            co_await weir::schedule(pool);  // behind all of them
            const std::uint64_t waited = resumed.load() - before;
            stop = true;
            for (std::uint64_t i = 0; i <= n; ++i) co_await weir::schedule(pool);  // they end
            co_return waited;
        }
    };
    std::atomic<std::uint64_t> resumed{0};
    thread_pool pool(1);
    for (const std::uint64_t n : {0U, 1U, 2U, 10U, 100U}) {
        const std::uint64_t waited = weir::sync_wait(pool, body::wait_behind(pool, n, resumed));
        CHECK(waited >= n);
        CHECK(waited <= 5 * n + 4);
    }
}

TEST_CASE("posts from outside, the last behind n others, have started after at most 61 (n + 1) resumptions") {
    struct body {
        static detached arrive(thread_pool& pool, std::atomic<std::uint64_t>& here) {
            co_await weir::schedule(pool);
            here.fetch_add(1);
        }
        // Keeps the pool busy until all are here: the last one has n before it.
        static task<std::uint64_t> longest_wait(thread_pool& pool, std::uint64_t n, int times) {
            std::uint64_t most = 0;
            for (int i = 0; i < times; ++i) {
                std::atomic<std::uint64_t> here{0};
                std::thread([&] {
                    for (std::uint64_t k = 0; k <= n; ++k) arrive(pool, here);
                }).join();  // now, for the pool
                std::uint64_t resumed = 0;
                for (; here.load() <= n; ++resumed) co_await weir::schedule(pool);
                most = std::max(most, resumed + n);
            }
            co_return most;
        }
    };
    thread_pool pool(1);
    for (const std::uint64_t n : {0U, 1U, 2U, 10U}) {
        CAPTURE(n);
        CHECK(weir::sync_wait(pool, body::longest_wait(pool, n, 100)) <= 61 * (n + 1));
    }
}

TEST_CASE("a worker that waits for others does their work: a pool of one doesn't deadlock") {
    struct nest {
        static task<int> deep(thread_pool& pool, int levels) {
            int below = 0;
            if (levels > 0) below = weir::sync_wait(pool, deep(pool, levels - 1));
            co_return below + 1;
        }
        static task<> sleepy(thread_pool& pool) {
            weir::sync_wait(pool, weir::sleep_for(1us));
            co_return;
        }
    };
    thread_pool pool(1);
    CHECK(weir::sync_wait(pool, nest::deep(pool, 10)) == 11);
    weir::sync_wait(pool, nest::sleepy(pool));
    thread_pool other(2);
    CHECK(weir::sync_wait(other, nest::deep(pool, 10)) == 11);
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

}  // namespace

TEST_CASE("nothing runs on top of a coroutine that waits on its worker, however many wait") {
    struct body {
        // Waits for one that is queued behind all others.
        static task<int> waits(thread_pool& pool) {
            const depth mine;
            int deepest = depth::here();
            for (int i = 0; i < 3; ++i) deepest = std::max(deepest, weir::sync_wait(pool, looks(pool)));
            co_return deepest;
        }
        static task<int> looks(thread_pool& pool) {
            const int at_first = depth::here();
            co_await weir::schedule(pool);
            co_return std::max(at_first, depth::here());
        }
    };
    for (const unsigned workers : {1U, 2U}) {
        thread_pool pool(workers);
        const auto deepest = weir::sync_wait(pool, weir::when_all(body::waits(pool), body::waits(pool),
                                                                  body::waits(pool), body::waits(pool)));
        CHECK(deepest == std::tuple(1, 1, 1, 1));
        CHECK(pool.workers() == workers);
    }
}

TEST_CASE("two coroutines of a pool of one that wait for each other by sync_wait both go on") {
    struct body {
        static task<> first(thread_pool& pool, weir::detail::parker& a, weir::detail::parker& b) {
            weir::sync_wait(pool, weir::schedule(pool));
            a.set();
            weir::sync_wait(pool, is_set(pool, b));
            co_return;
        }
        static task<> second(thread_pool& pool, weir::detail::parker& a, weir::detail::parker& b) {
            weir::sync_wait(pool, is_set(pool, a));
            b.set();
            co_return;
        }
        static task<> is_set(thread_pool& pool, weir::detail::parker& p) {
            while (!p.is_set()) co_await weir::schedule(pool);
        }
    };
    thread_pool pool(1);
    weir::detail::parker a, b;
    weir::sync_wait(pool, weir::when_all(body::second(pool, a, b), body::first(pool, a, b)));
    CHECK(b.is_set());
}

TEST_CASE("a coroutine may wait with a lock that all others of the pool want") {
    struct body {
        static task<> waits(thread_pool& pool, std::mutex& m, int& count) {
            const std::lock_guard guard(m);
            weir::sync_wait(pool, weir::sleep_for(1us));
            ++count;
            co_return;
        }
    };
    thread_pool pool(2);
    std::mutex m;
    int count = 0;
    const auto one = [&] { return body::waits(pool, m, count); };
    weir::sync_wait(pool, weir::when_all(one(), one(), one(), one(), one(), one()));
    CHECK(count == 6);
    CHECK(pool.workers() == 2);
}

TEST_CASE("a thread that sleeps in another executor's wait leaves its place in the pool, too") {
    struct body {
        static task<int> takes(weir::detail::parker& go, int value) {
            while (!go.is_set()) co_await weir::schedule(*weir::detail::current_executor());
            co_return value;
        }
        static task<int> waits(weir::executor& other, weir::detail::parker& go) {
            co_return weir::sync_wait(other, takes(go, 3));
        }
        static task<> sets(weir::detail::parker& go) {
            go.set();
            co_return;
        }
    };
    thread_pool pool(1), other(1);
    weir::detail::parker go;
    const auto [got, nothing] = weir::sync_wait(pool, weir::when_all(body::waits(other, go), body::sets(go)));
    CHECK(got == 3);
}

TEST_CASE("a pool that is destroyed, or changes its size, while coroutines wait in it loses nothing") {
    struct body {
        static detached waits(thread_pool& pool, std::atomic<int>& count) {
            co_await weir::schedule(pool);
            weir::sync_wait(pool, weir::sleep_for(100us));
            count_on(pool, count);
        }
    };
    std::atomic<int> count = 0;
    {
        thread_pool pool(2, {.most_workers = 8});
        for (int i = 0; i < 10; ++i) body::waits(pool, count);
        for (const unsigned n : {1U, 8U, 1U, 3U}) pool.set_workers(n);
        CHECK(pool.workers() == 3);
    }
    CHECK(count == 10);
}

TEST_CASE("a worker's stand-in calls on_thread_start with the number of the worker") {
    struct nest {
        static task<> sleepy(thread_pool& pool) {
            weir::sync_wait(pool, weir::sleep_for(1us));
            co_return;
        }
    };
    std::atomic<int> calls = 0;
    {
        thread_pool pool(1, {.on_thread_start = [&](unsigned i) { calls += i == 0 ? 1 : 100; }});
        weir::sync_wait(pool, nest::sleepy(pool));
    }
    CHECK(calls == 2);
}

TEST_CASE("at the end of a pool's thread, the destructor of a thread_local object may wait in the library") {
    struct owner {
        std::atomic<weir::executor*>* pool;  // null inside: the pool ends
        std::atomic<int>* destroyed;
        ~owner() {
            weir::sync_wait(weir::sleep_for(1us));
            if (weir::executor* const ex = *pool) weir::sync_wait(*ex, weir::sleep_for(1us));
            ++*destroyed;
        }
    };
    std::atomic<weir::executor*> here = nullptr;
    std::atomic<int> destroyed = 0;
    {
        // Made before the objects of the library on that thread, and so destroyed after them.
        thread_pool pool(3, {.on_thread_start = [&](unsigned) {
                             static thread_local owner of_thread{&here, &destroyed};
                             static_cast<void>(of_thread);
                         }});
        here = &pool;
        pool.set_workers(1);
        while (destroyed != 2) weir::sync_wait(pool, weir::sleep_for(1us));
        here = nullptr;
    }
    CHECK(destroyed == 3);
}

TEST_CASE("a pool is driven by its own workers only") {
    thread_pool pool(1);
    weir::detail::parker done;
    CHECK_FALSE(pool.drive(done, weir::time_point::max()));
    CHECK_FALSE(pool.traits().exclusive);
}

TEST_CASE("a pool lends a place to a thread that waits for an item of the only run") {
    basic_lent_pool pool(1);
    const weir::detail::executor_use run(&pool, weir::detail::executor_user::run);
    CHECK(is_lent(pool, enough));
    // The thread is the program's again.
    CHECK(weir::detail::current_executor() == nullptr);
    CHECK(weir::sync_wait(pool, where()) != std::this_thread::get_id());
}

TEST_CASE("a pool lends no place without a run, with two runs, with a task group, or with on_thread_start") {
    using weir::detail::executor_use;
    using weir::detail::executor_user;
    basic_lent_pool pool(1);
    CHECK_FALSE(is_lent(pool, some));
    {
        const executor_use one(&pool, executor_user::run);
        const executor_use other(&pool, executor_user::run);
        CHECK_FALSE(is_lent(pool, some));
    }
    {
        const executor_use one(&pool, executor_user::run);
        const executor_use group(&pool, executor_user::task_group);
        CHECK_FALSE(is_lent(pool, some));
    }
    {
        basic_lent_pool prepared(1, {.on_thread_start = [](unsigned) {}});
        const executor_use one(&prepared, executor_user::run);
        CHECK_FALSE(is_lent(prepared, some));
    }
}

TEST_CASE("a pool lends no place to a thread that runs a coroutine, or belongs to a pool") {
    basic_lent_pool pool(1);
    const weir::detail::executor_use run(&pool, weir::detail::executor_user::run);
    const auto asks = [&]() -> task<bool> { co_return is_lent(pool, some); };
    CHECK_FALSE(weir::sync_wait(asks()));
    thread_pool other(1);
    CHECK_FALSE(weir::sync_wait(other, asks()));
}

TEST_CASE(
    "a consumer that keeps a place of a pool may use another pool at the same address, which lends none") {
    std::optional<basic_lent_pool> pool(std::in_place, 1U);
    {
        const weir::detail::executor_use run(&*pool, weir::detail::executor_user::run);
        REQUIRE(is_lent(*pool, enough));
    }
    pool.emplace(1U, weir::thread_pool_options{.on_thread_start = [](unsigned) {}});
    std::atomic<int> count{0};
    count_on(*pool, count);
    CHECK_FALSE(is_lent(*pool, some));
    pool.reset();
    CHECK(count.load() == 1);
}

TEST_CASE("work behind a coroutine that hogs its worker is taken over by an idle one") {
    struct hog {
        // Waits, without a suspension, for one that is in its own slot or queue.
        static task<> wait_for_posted(thread_pool& pool, int posts) {
            std::atomic<int> count{0};
            for (int i = 0; i < posts; ++i) count_on(pool, count);
            while (count.load() != posts) std::this_thread::yield();
            co_return;
        }
        static task<> wait_for_timer(thread_pool& pool) {
            weir::detail::parker fired;
            sleep(pool, fired);
            while (!fired.is_set()) std::this_thread::yield();
            co_return;
        }
        static detached sleep(thread_pool& pool, weir::detail::parker& fired) {
            co_await weir::schedule(pool);
            co_await weir::sleep_for(10us);
            fired.set();
        }
    };
    thread_pool pool(2);
    for (int i = 0; i < 20; ++i) {
        weir::sync_wait(pool, hog::wait_for_posted(pool, 1));
        weir::sync_wait(pool, hog::wait_for_posted(pool, 5));
        weir::sync_wait(pool, hog::wait_for_timer(pool));
    }
}

TEST_CASE("all workers of a pool work at the same time if there is enough to do") {
    struct meeting {
        static task<> arrive(std::atomic<int>& present, int expected) {
            present.fetch_add(1);
            while (present.load() < expected) std::this_thread::yield();
            co_return;
        }
    };
    thread_pool pool(4);
    for (int i = 0; i < 20; ++i) {
        std::atomic<int> present{0};
        std::vector<task<>> guests;
        for (int k = 0; k < 4; ++k) guests.push_back(meeting::arrive(present, 4));
        weir::sync_wait(pool, weir::when_all(std::move(guests)));
    }
}

TEST_CASE("sleepers wake in the order of their deadlines and never too early") {
    struct sleeper {
        static task<> sleep(thread_pool& pool, weir::duration d, std::vector<int>& log, int name,
                            std::atomic<int>& early) {
            const weir::time_point due = pool.now() + d;
            co_await weir::sleep_until(due);
            if (pool.now() < due) early.fetch_add(1);
            log.push_back(name);
        }
    };
    thread_pool pool(1);
    std::vector<int> log;
    std::atomic<int> early{0};
    weir::sync_wait(pool, weir::when_all(sleeper::sleep(pool, 3ms, log, 3, early),
                                         sleeper::sleep(pool, 1ms, log, 1, early),
                                         sleeper::sleep(pool, 2ms, log, 2, early)));
    CHECK(log == std::vector<int>{1, 2, 3});
    CHECK(early.load() == 0);
}

TEST_CASE("a timer that another thread adds wakes a pool which sleeps, till later or for good") {
    for (const unsigned workers : {1U, 2U}) {
        CAPTURE(workers);
        thread_pool pool(workers);
        pools::wake_by_timers(pool);
    }
}

TEST_CASE("a sleep is cut short by a stop, whether the pool is busy or sleeps") {
    struct stoppable {
        static task<bool> sleep(weir::stop_token stop) {
            const bool slept = co_await weir::sleep_for(weir::duration::max(), stop);
            co_return slept;
        }
        static task<> ask(weir::stop_source& stop) {
            stop.request_stop();
            co_return;
        }
    };
    for (const unsigned workers : {1U, 2U}) {
        CAPTURE(workers);
        thread_pool pool(workers);
        weir::stop_source first;
        const auto results =
            weir::sync_wait(pool, weir::when_all(stoppable::sleep(first.get_token()), stoppable::ask(first)));
        CHECK_FALSE(std::get<0>(results));
        weir::stop_source second;
        std::thread outside([&] { second.request_stop(); });
        CHECK_FALSE(weir::sync_wait(pool, stoppable::sleep(second.get_token())));
        outside.join();
    }
}

TEST_CASE("a pool's clock goes forward") {
    thread_pool pool(1);
    const weir::time_point a = pool.now();
    CHECK(pool.now() >= a);
}

TEST_CASE("a pool runs what was posted right before its end, while its thread asked for it") {
    using unhurried_platform = pools::unhurried_platform<thread_pool>;
    std::atomic<int> count{0};
    {
        weir::basic_thread_pool<unhurried_platform> pool(1);
        while (!unhurried_platform::asked) std::this_thread::yield();
        count_on(pool, count);
    }
    CHECK(count.load() == 1);
}

TEST_CASE("a pool that can't start all of its threads ends those it has, and tells") {
    for (int available = 0; available < 4; ++available) {
        CAPTURE(available);
        meagre_platform::left = available;
        CHECK_THROWS_AS(weir::basic_thread_pool<meagre_platform>(4), std::system_error);
    }
    meagre_platform::left = 4;
    CHECK(weir::basic_thread_pool<meagre_platform>(4).workers() == 4);
}

namespace {

struct meeting {
    std::atomic<int> here{0};
    std::atomic<int> gone{0};
};
detached meet(weir::executor& ex, meeting& m, int all) {
    co_await weir::schedule(ex);
    m.here.fetch_add(1);
    while (m.here.load() < all) std::this_thread::yield();
    m.gone.fetch_add(1);
}
// Returns once so many coroutines have kept as many workers at the same time.
void wait_until_all_work(weir::executor& pool, int all) {
    meeting m;
    for (int i = 0; i < all; ++i) meet(pool, m, all);
    while (m.gone.load() < all) std::this_thread::yield();
}
task<> sets(thread_pool& pool, unsigned workers) {
    pool.set_workers(workers);
    co_return;
}

}  // namespace

TEST_CASE("a pool has more workers at once, and fewer, when it is told to") {
    thread_pool pool(1, {.most_workers = 4});
    pool.set_workers(3);
    CHECK(pool.workers() == 3);
    wait_until_all_work(pool, 3);
    pool.set_workers(1);
    CHECK(pool.workers() == 1);
    wait_until_all_work(pool, 1);
    pool.set_workers(4);
    wait_until_all_work(pool, 4);
    // A coroutine of the pool may, too: also on a worker that is too many then.
    for (const unsigned n : {1U, 4U, 2U}) {
        weir::sync_wait(pool, sets(pool, n));
        CHECK(pool.workers() == n);
        wait_until_all_work(pool, static_cast<int>(n));
    }
}

TEST_CASE("a surplus worker hands over its queues and ends after its current coroutine") {
    thread_pool pool(2, {.most_workers = 2});
    std::atomic<int> count{0};
    std::atomic<int> stuck{0};
    std::atomic<bool> free{false};
    std::thread::id threads[2];
    const auto holds = [&](int i) -> detached {
        co_await weir::schedule(pool);
        threads[i] = std::this_thread::get_id();
        stuck.fetch_add(1);
        for (int k = 0; k < 50; ++k) count_on(pool, count);  // into this worker's own queue
        while (!free.load()) std::this_thread::yield();
    };
    holds(0);
    holds(1);
    while (stuck.load() < 2) std::this_thread::yield();
    pool.set_workers(1);
    free = true;
    while (count.load() < 100) std::this_thread::yield();
    CHECK(threads[0] != threads[1]);
    const std::thread::id left = weir::sync_wait(pool, where());
    CHECK((left == threads[0] || left == threads[1]));
    for (int i = 0; i < 20; ++i) CHECK(weir::sync_wait(pool, where()) == left);
}

TEST_CASE("a pool refuses to have no workers, or more than it was made for, and stays as it is") {
    thread_pool pool(2, {.most_workers = 3});
    CHECK_THROWS_WITH(pool.set_workers(0), Catch::Matchers::ContainsSubstring("ask for at least 1"));
    CHECK_THROWS_WITH(pool.set_workers(static_cast<unsigned>(-2)),
                      Catch::Matchers::ContainsSubstring("negative"));
    CHECK_THROWS_WITH(pool.set_workers(4), Catch::Matchers::ContainsSubstring("made for 3"));
    CHECK_THROWS_AS(thread_pool(4, {.most_workers = 3}), std::invalid_argument);
    CHECK_THROWS_WITH(thread_pool(0, {.most_workers = 3}),
                      Catch::Matchers::ContainsSubstring("can run nothing"));
    CHECK(pool.workers() == 2);
    wait_until_all_work(pool, 2);
}

TEST_CASE("timers go on while workers come and go") {
    thread_pool pool(3, {.most_workers = 3});
    const auto sleeps = [](int n) -> task<> {
        for (int i = 0; i < n; ++i) co_await weir::sleep_for(50us);
    };
    std::atomic<bool> over{false};
    std::thread other([&] {
        for (unsigned n = 1; !over; n = n % 3 + 1) pool.set_workers(n);
    });
    const auto all = [&]() -> task<> { co_await weir::when_all(sleeps(40), sleeps(60), sleeps(80)); };
    weir::sync_wait(pool, all());
    over = true;
    other.join();
}

TEST_CASE("a coroutine that changes a pool which is being destroyed changes nothing") {
    std::atomic<int> count{0};
    {
        thread_pool pool(1, {.most_workers = 3});
        const auto changes = [&]() -> detached {
            co_await weir::schedule(pool);
            while (count.load() == 0) std::this_thread::yield();
            for (const unsigned n : {3U, 1U, 2U}) pool.set_workers(n);
            count_on(pool, count);
        };
        changes();
        count = 1;
    }
    CHECK(count.load() == 2);
}

TEST_CASE("each thread of a pool calls the hook before it runs anything, also a thread that starts later") {
    std::vector<unsigned> begun;  // by one thread after the other, which its starter waits for
    std::vector<std::thread::id> threads;
    thread_pool pool(2, {.most_workers = 3, .on_thread_start = [&](unsigned worker) {
                             begun.push_back(worker);
                             threads.push_back(std::this_thread::get_id());
                         }});
    CHECK(begun == std::vector<unsigned>{0, 1});
    const std::thread::id here = weir::sync_wait(pool, where());
    CHECK((here == threads[0] || here == threads[1]));
    pool.set_workers(3);
    CHECK(begun == std::vector<unsigned>{0, 1, 2});
}

TEST_CASE("an exception of a thread's hook leaves the constructor or set_workers") {
    std::atomic<int> calls{0};
    const auto fails_at = [&calls](int n) {
        return [&calls, n](unsigned) {
            if (++calls == n) throw std::runtime_error("no such device");
        };
    };
    CHECK_THROWS_WITH(thread_pool(3, {.on_thread_start = fails_at(2)}), "no such device");
    CHECK(calls == 2);
    calls = 0;
    thread_pool pool(1, {.most_workers = 4, .on_thread_start = fails_at(3)});
    CHECK_THROWS_WITH(pool.set_workers(4), "no such device");
    CHECK(pool.workers() == 2);
    wait_until_all_work(pool, 2);
    pool.set_workers(4);
    wait_until_all_work(pool, 4);
}

TEST_CASE("a pool that can't start more threads keeps those that it has") {
    meagre_platform::left = 3;
    weir::basic_thread_pool<meagre_platform> pool(2, {.most_workers = 4});
    CHECK_THROWS_AS(pool.set_workers(4), std::system_error);
    CHECK(pool.workers() == 3);
    wait_until_all_work(pool, 3);
}

TEST_CASE("if no thread can replace a worker that blocks, the pool tries again") {
    struct body {
        static task<int> inner() {
            co_await weir::yield();
            co_return 7;
        }
        static task<int> outer(weir::executor& pool) { co_return weir::sync_wait(pool, inner()); }
    };
    meagre_platform::left = 1;  // the next one fails, and those behind it don't
    weir::basic_thread_pool<meagre_platform> pool(1);
    CHECK(weir::sync_wait(pool, body::outer(pool)) == 7);
    CHECK(meagre_platform::left < -1);
}

TEST_CASE("a worker in whose place no thread can be started sleeps for a moment, never past its limit") {
    struct body {
        // How often it looked how long it may sleep.
        static task<int> blocks(weir::executor& pool) {
            weir::detail::parker done;
            const weir::time_point limit = pool.now();
            const int before = meagre_platform::looks();
            if (!pool.drive(done, limit)) throw std::logic_error("it isn't the pool's thread");
            co_return meagre_platform::looks() - before;
        }
    };
    meagre_platform::left = 1;
    weir::basic_thread_pool<meagre_platform> pool(1);
    CHECK(weir::sync_wait(pool, body::blocks(pool)) == 1);
    CHECK(meagre_platform::left == -1);
}

TEST_CASE("a coroutine of a pool may destroy another pool, and its own goes on") {
    struct body {
        static task<> destroys(std::optional<thread_pool>& other) {
            other.reset();
            co_return;
        }
    };
    thread_pool pool(1);
    std::optional<thread_pool> other(std::in_place, 2U);
    weir::sync_wait(pool, body::destroys(other));
    CHECK_FALSE(other.has_value());
    CHECK(weir::sync_wait(pool, where()) != std::this_thread::get_id());
}

TEST_CASE("two pools pass coroutines to each other") {
    struct traveller {
        static task<int> commute(weir::executor& a, weir::executor& b, int trips) {
            int changes = 0;
            auto last = std::this_thread::get_id();
            for (int i = 0; i < trips; ++i) {
                co_await weir::schedule(i % 2 == 0 ? b : a);
                const auto id = std::this_thread::get_id();
                changes += id != last ? 1 : 0;
                last = id;
            }
            co_return changes;
        }
    };
    thread_pool a(1), b(1);
    CHECK(weir::sync_wait(a, traveller::commute(a, b, 500)) == 500);
}

namespace {

// Goes on as one of many parts.
class forked {
  public:
    explicit forked(weir::executor& ex) noexcept : executor_(&ex) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const noexcept { executor_->fork(h); }
    void await_resume() const noexcept {}

  private:
    weir::executor* executor_;
};

detached log_forked(thread_pool& pool, std::vector<int>& log, int name) {
    co_await forked(pool);
    log.push_back(name);
}

detached count_forked(thread_pool& pool, std::atomic<int>& count) {
    co_await forked(pool);
    count.fetch_add(1);
}

}  // namespace

TEST_CASE("forks run after the call, those of one worker last come, first served") {
    struct body {
        static task<> fork_three(thread_pool& pool, std::vector<int>& log) {
            for (int i = 1; i <= 3; ++i) log_forked(pool, log, i);
            log.push_back(0);
            co_return;
        }
    };
    std::vector<int> log;
    {
        thread_pool pool(1);
        weir::sync_wait(pool, body::fork_three(pool, log));
    }
    CHECK(log == std::vector<int>{0, 3, 2, 1});
}

TEST_CASE("the destructor of a pool runs all forks, from outside and from its workers") {
    struct body {
        static detached fork_more(thread_pool& pool, std::atomic<int>& count) {
            co_await weir::schedule(pool);
            for (int i = 0; i < 100; ++i) count_forked(pool, count);
        }
    };
    for (const unsigned workers : {1U, 2U, 4U}) {
        CAPTURE(workers);
        std::atomic<int> count{0};
        {
            thread_pool pool(workers);
            for (int i = 0; i < 10; ++i) body::fork_more(pool, count);
            for (int i = 0; i < 100; ++i) count_forked(pool, count);
        }
        CHECK(count.load() == 1'100);
    }
}

TEST_CASE("the eldest fork is starved neither by the queue and the slot nor by younger forks") {
    struct body {
        static detached fork_on(thread_pool& pool, const std::atomic<int>& eldest, int until,
                                std::atomic<int>& ended) {
            co_await forked(pool);
            if (eldest.load() < until) {
                fork_on(pool, eldest, until, ended);
            } else {
                ended.fetch_add(1);
            }
        }
        static task<std::uint64_t> wait_for_eldest(thread_pool& pool,
                                                   const std::atomic<std::uint64_t>& said) {
            std::atomic<int> eldest{0}, ended{0};
            std::uint64_t most = 0;
            for (int i = 1; i <= 50; ++i) {
                const std::uint64_t before = said.load();
                count_forked(pool, eldest);
                fork_on(pool, eldest, i, ended);  // is younger, and its successors even more
                while (eldest.load() < i) co_await weir::schedule(pool);
                most = std::max(most, said.load() - before);
                while (ended.load() < i) co_await weir::schedule(pool);
            }
            co_return most;
        }
    };
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> said{0};
    thread_pool pool(1);
    chatter(pool, stop, said);
    yielder(pool, stop);
    CHECK(weir::sync_wait(pool, body::wait_for_eldest(pool, said)) <= 64);
    stop = true;
}

TEST_CASE("forks behind a coroutine that hogs its worker are taken over by an idle one") {
    struct hog {
        static task<> wait_for_forks(thread_pool& pool, int forks) {
            std::atomic<int> count{0};
            for (int i = 0; i < forks; ++i) count_forked(pool, count);
            while (count.load() != forks) std::this_thread::yield();
            co_return;
        }
    };
    thread_pool pool(2);
    for (int i = 0; i < 20; ++i) {
        weir::sync_wait(pool, hog::wait_for_forks(pool, 1));
        weir::sync_wait(pool, hog::wait_for_forks(pool, 7));
    }
}

TEST_CASE("a worker that waits inside a coroutine runs others as the pool's, and then goes on") {
    struct body {
        static task<> inner(std::vector<weir::executor*>& log) {
            log.push_back(weir::detail::current_executor());
            co_return;
        }
        static task<> outer(thread_pool& pool, int levels, std::vector<weir::executor*>& log) {
            log.push_back(weir::detail::current_executor());
            if (levels > 0) weir::sync_wait(pool, outer(pool, levels - 1, log));
            weir::sync_wait(pool, inner(log));
            log.push_back(weir::detail::current_executor());
            co_await weir::schedule(pool);
            log.push_back(weir::detail::current_executor());
        }
    };
    thread_pool pool(1);
    std::vector<weir::executor*> log;
    weir::sync_wait(pool, body::outer(pool, 5, log));
    CHECK(log == std::vector<weir::executor*>(6 * 4, &pool));
    CHECK(weir::detail::current_executor() == nullptr);
}

TEST_CASE("an inspection sees whether the pool has anything to do") {
    weir::thread_pool pool(2);
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
    const auto spin = [&]() -> weir::task<> {
        while (!over) std::this_thread::yield();
        co_return;
    };
    std::thread waits([&] { weir::sync_wait(pool, spin()); });
    const auto one_runs = [&] {
        const auto now = seen();
        return now.busy == 1 && now.workers[0].runs != now.workers[1].runs;
    };
    while (!one_runs()) std::this_thread::yield();
    over = true;
    waits.join();
    wait_for_rest();
    CHECK(seen().resumed == before + 1);

    weir::stop_source wake;
    const auto sleep = [&]() -> weir::task<> { co_await weir::sleep_for(1h, wake.get_token()); };
    std::thread sleeps([&] { weir::sync_wait(pool, sleep()); });
    while (seen().resumed != before + 2) std::this_thread::yield();
    while (seen().busy != 0) std::this_thread::yield();
    CHECK(seen().pending);  // the timer
    wake.request_stop();
    sleeps.join();
}
