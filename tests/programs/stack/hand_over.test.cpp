// How deep the stack gets where the compiler makes no tail calls. With WEIR_STACK_COUNT=10000000 in the
// environment ten million hand-overs, not one.
#include <weir/channel/channel.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/platform/config.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>
#include <weir/task/when_any.hpp>

#include <coroutine>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using weir::channel;
using weir::sync_wait;
using weir::task;

namespace {

constexpr std::uintptr_t allowed = 64 * 1024;

// An even number.
int many() {
    const char* const asked = std::getenv("WEIR_STACK_COUNT");
    return asked == nullptr ? 1'000'000 : std::stoi(asked) / 2 * 2;
}

// How far the stack of one thread reached. Not by the address of a local: AddressSanitizer puts
// those elsewhere.
struct depth {
    std::uintptr_t low = UINTPTR_MAX, high = 0;
    WEIR_NOINLINE void note() {
        const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        if (here < low) low = here;
        if (here > high) high = here;
    }
    std::uintptr_t reached() const noexcept { return high - low; }
};

// A coroutine of somebody else's, which no executor runs.
struct foreign {
    struct promise_type {
        foreign get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

// Each item is handed to the other one, who was waiting for it.
task<int> serve(channel<int>& out, channel<int>& in, int rounds, depth& d) {
    int returned = 0;
    for (int i = 0; i < rounds; ++i) {
        const bool sent = co_await out.put(i + 0);
        if (!sent) break;
        d.note();
        const auto back = co_await in.get();
        if (!back || *back != i) break;
        ++returned;
    }
    out.close();
    co_return returned;
}

task<> reply(channel<int>& in, channel<int>& out, depth& d) {
    while (auto item = co_await in.get()) {
        d.note();
        const bool sent = co_await out.put(std::move(*item));
        if (!sent) co_return;
    }
}

task<int> play(int rounds, depth& d) {
    channel<int> there(1), back(1);
    const auto results = co_await weir::when_all(serve(there, back, rounds, d), reply(there, back, d));
    co_return std::get<0>(results);
}

task<int> leaf(int i, depth& d) {
    d.note();
    co_return i % 2;
}

task<int> await_many(int times, depth& d) {
    int sum = 0;
    for (int i = 0; i < times; ++i) {
        const int one = co_await leaf(i, d);
        sum += one;
    }
    co_return sum;
}

foreign await_many_by_hand(int times, depth& d, int& sum) { sum = co_await await_many(times, d); }

task<int> chain(int length, depth& d) {
    d.note();
    if (length == 0) co_return 0;
    const int below = co_await chain(length - 1, d);
    d.note();
    co_return below + 1;
}

weir::async_generator<int> count(int n, depth& d) {
    for (int i = 0; i < n; ++i) {
        d.note();
        co_yield i % 2;
    }
}

task<int> sum_of(int n, depth& d) {
    int sum = 0;
    weir::async_generator<int> g = count(n, d);
    while (const auto v = co_await g.next()) {
        d.note();
        sum += *v;
    }
    co_return sum;
}

}  // namespace

TEST_CASE("a million items that two coroutines hand to each other take a bounded stack") {
    const int n = many();
    depth d;
    int returned = 0;
    SECTION("on virtual time") {
        weir::virtual_time time;
        returned = sync_wait(time, play(n / 2, d));
    }
    SECTION("on a loop") { returned = sync_wait(play(n / 2, d)); }
    SECTION("on a pool") {
        weir::thread_pool pool(1);
        returned = sync_wait(pool, play(n / 2, d));
    }
    CHECK(returned == n / 2);
    CHECK(d.reached() < allowed);
}

TEST_CASE("a million tasks that end without waiting take a bounded stack") {
    const int n = many();
    depth d;
    int sum = 0;
    SECTION("on virtual time") {
        weir::virtual_time time;
        sum = sync_wait(time, await_many(n, d));
    }
    SECTION("on a pool") {
        weir::thread_pool pool(1);
        sum = sync_wait(pool, await_many(n, d));
    }
    SECTION("on no executor at all") { await_many_by_hand(n, d, sum); }
    CHECK(sum == n / 2);
    CHECK(d.reached() < allowed);
}

TEST_CASE("a million values of a generator that doesn't wait take a bounded stack") {
    const int n = many();
    depth d;
    CHECK(sync_wait(sum_of(n, d)) == n / 2);
    CHECK(d.reached() < allowed);
}

TEST_CASE("a chain of a hundred thousand tasks takes a bounded stack") {
    depth d;
    CHECK(sync_wait(chain(100'000, d)) == 100'000);
    CHECK(d.reached() < allowed);
}

namespace {

// Notes where the stack is when the frame that it lives in is destroyed.
struct noted {
    explicit noted(depth& d) noexcept : seen(&d) {}
    noted(const noted&) = delete;
    noted& operator=(const noted&) = delete;
    ~noted() { seen->note(); }
    depth* seen;
};

task<> waits(channel<int>& never, depth& d) {
    const noted here(d);
    static_cast<void>(co_await never.get());
}
task<> by_await(int n, channel<int>& never, depth& d) {
    const noted here(d);
    if (n == 0) co_await waits(never, d);
    if (n != 0) co_await by_await(n - 1, never, d);
}
task<> by_when_all(int n, channel<int>& never, depth& d) {
    const noted here(d);
    if (n == 0) co_await waits(never, d);
    if (n != 0) co_await weir::when_all(by_when_all(n - 1, never, d), waits(never, d));
}
task<int> one() { co_return 1; }
task<int> waits_for_one(channel<int>& never) {
    static_cast<void>(co_await never.get());
    co_return 1;
}
// Of the same expression a join has ended that is still there.
task<> by_both(int n, channel<int>& never, depth& d) {
    const noted here(d);
    const auto sum = [](const std::tuple<int, int>& a, int b) { return std::get<0>(a) + b; };
    static_cast<void>(sum(co_await weir::when_all(one(), one()), co_await waits_for_one(never)));
    if (n != 0) co_await by_both(n - 1, never, d);
}
task<> by_vector(int n, channel<int>& never, depth& d) {
    const noted here(d);
    std::vector<task<>> parts;
    parts.push_back(waits(never, d));
    if (n != 0) parts.push_back(by_vector(n - 1, never, d));
    co_await weir::when_all(std::move(parts));
}
task<> by_when_any(int n, channel<int>& never, depth& d) {
    const noted here(d);
    if (n == 0) co_await waits(never, d);
    if (n != 0) static_cast<void>(co_await weir::when_any(by_when_any(n - 1, never, d), waits(never, d)));
}
weir::async_generator<int> gives(int n, channel<int>& never, depth& d) {
    const noted here(d);
    if (n == 0) co_await waits(never, d);
    if (n != 0) {
        auto inner = gives(n - 1, never, d);
        while (auto x = co_await inner.next()) co_yield *x;
    }
}
task<> by_generator(int n, channel<int>& never, depth& d) {
    const noted here(d);
    auto inner = gives(n, never, d);
    static_cast<void>(co_await inner.next());
}

}  // namespace

TEST_CASE("coroutines that wait inside of each other are destroyed on a bounded stack") {
    for (const auto chain : {by_await, by_when_all, by_both, by_vector, by_when_any, by_generator}) {
        weir::virtual_time time;
        channel<int> never(1, time);
        depth d;
        CHECK_THROWS_AS(sync_wait(time, chain(20'000, never, d)), weir::deadlock_error);
        CHECK(d.reached() < allowed);
    }
}
