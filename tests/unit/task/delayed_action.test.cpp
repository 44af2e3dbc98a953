#include <weir/task/delayed_action.hpp>

#include "support/catch.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

using weir::duration;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

struct ring_at {
    weir::executor* home;
    std::vector<time_point>* rung;
    void operator()() const { rung->push_back(home->now()); }
};
using bell = weir::detail::delayed_action<ring_at>;

// Sets an alarm, calls it off later, and tells when it rang.
std::vector<time_point> rings(duration after, duration off_after, std::uint64_t seed = 0) {
    virtual_time time(seed);
    std::vector<time_point> rung;
    const auto use = [&]() -> task<> {
        bell a(time, after, ring_at{&time, &rung});
        if (off_after > 0ns) co_await weir::sleep_for(off_after);
        co_await a.off();
        const time_point off = time.now();
        co_await a.off();
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

TEST_CASE("an alarm rings once, when its time has passed") {
    CHECK(rings(10ms, 30ms) == std::vector{time_point(10ms)});
    CHECK(rings(0ms, 30ms) == std::vector{time_point(0ms)});
    CHECK(rings(-5ms, 30ms) == std::vector{time_point(0ms)});
}

TEST_CASE("an alarm that is called off before never rings, and leaves nothing behind") {
    CHECK(rings(10ms, 9ms).empty());
    CHECK(rings(1h, 1ns).empty());
    CHECK(rings(duration::max(), 1h).empty());
}

TEST_CASE("an alarm that is called off at once, or at the instant at which it rings, is off all the same") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CHECK(rings(10ms, 0ms, seed).empty());
        CHECK(rings(10ms, 10ms, seed).size() <= 1);
    }
}

TEST_CASE("alarms of several coroutines ring each for itself") {
    virtual_time time;
    std::vector<time_point> rung;
    const auto use = [&](duration after, duration off) -> task<> {
        bell a(time, after, ring_at{&time, &rung});
        co_await weir::sleep_for(off);
        co_await a.off();
    };
    weir::sync_wait(time, weir::when_all(use(3ms, 5ms), use(1ms, 1s), use(9ms, 8ms)));
    CHECK(rung == std::vector{time_point(1ms), time_point(3ms)});
}

TEST_CASE("on a pool an alarm is called off from wherever its coroutine runs, whether it rings or not") {
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
            co_await a.off();
            ++off;
        }
        co_return off;
    };
    const auto [a, b, c] = weir::sync_wait(pool, weir::when_all(use(0), use(1), use(2)));
    CHECK(a + b + c == 900);
    CHECK(rung <= 900);
    CHECK(rung > 0);
}
