#include <weir/channel/wait_queue.hpp>

#include "support/catch.hpp"
#include "support/slow_world.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using weir::task;
using weir::virtual_time;
using weir::detail::admission;
using weir::detail::slot_state;
using namespace std::chrono_literals;

namespace {

// Lets in numbers below a limit.
struct below {
    using ticket = int;
    int limit = 0;
    bool shut = false;
    admission ask(int n) const noexcept {
        return n < limit ? admission::go : shut ? admission::refused : admission::wait;
    }
};
using room = weir::detail::wait_queue<below>;

// The same in the order of the numbers; counts the questions.
struct sorted : below {
    int* asked;
    admission ask(int n) const noexcept {
        ++*asked;
        return below::ask(n);
    }
    static bool goes_before(int a, int b) noexcept { return a < b; }
};

// Gives out seats, and counts the questions.
struct seats {
    using ticket = int;
    int free = 0;
    int* asked;
    admission judge(int) const noexcept { return free > 0 ? admission::go : admission::wait; }
    admission ask(int n) noexcept {
        ++*asked;
        const admission answer = judge(n);
        if (answer == admission::go) --free;
        return answer;
    }
    bool may_answer() const noexcept { return free > 0; }
};
using plain_slot = weir::detail::slot;
using timed_slot = weir::detail::timed_slot<true>;

constexpr auto waits = slot_state::wait_turn;
constexpr auto in = [](const auto& spent, slot_state s) { return spent[static_cast<std::size_t>(s)]; };

}  // namespace

TEST_CASE("a waiter that is admitted or refused at once does not wait") {
    virtual_time time;
    const std::string stage = "s";
    plain_slot me(stage, 0, time);
    room door(below{3, true}, "");
    const auto ask = [&](int n) -> task<bool> {
        const bool go = co_await door.wait(n, me, waits);
        co_return go;
    };
    CHECK(weir::sync_wait(time, ask(2)));
    CHECK_FALSE(weir::sync_wait(time, ask(3)));
}

TEST_CASE("an update wakes all waiters that it admits or refuses, in the order in which they came") {
    virtual_time time;
    const std::string stage = "s";
    plain_slot me(stage, 0, time);
    room door(below{}, "");
    std::vector<int> went;
    const auto visit = [&](int n) -> task<> {
        const bool go = co_await door.wait(n, me, waits);
        went.push_back(go ? n : -n);
    };
    const auto change = [&]() -> task<> {
        co_await weir::sleep_for(1s);
        door.update([](below& rule) { rule.limit = 3; });
        door.update([](below&) {});
        if (!went.empty()) throw std::logic_error("nobody is resumed inside of the call");
        co_await weir::sleep_for(1s);
        went.push_back(0);
        door.update([](below& rule) { rule.limit = 4; });
        co_await weir::sleep_for(1s);
        door.update([](below& rule) { rule.shut = true; });
    };
    weir::sync_wait(time, weir::when_all(visit(5), visit(2), visit(9), visit(1), visit(3), change()));
    CHECK(went == std::vector<int>{2, 1, 0, 3, -5, -9});
    CHECK(door.read([](const below& rule) { return rule.limit; }) == 4);
}

TEST_CASE("an update asks for no waiter while the rule says that it has no answer; ask_all asks for each") {
    virtual_time time;
    const std::string stage = "s";
    plain_slot me(stage, 0, time);
    int asked = 0;
    weir::detail::wait_queue<seats> hall(seats{.asked = &asked}, "");
    std::vector<int> went;
    std::vector<int> questions;
    const auto visit = [&](int n) -> task<> {
        const bool go = co_await hall.wait(n, me, waits);
        went.push_back(go ? n : -n);
    };
    const auto change = [&]() -> task<> {
        co_await weir::sleep_for(1s);
        const auto count = [&] { questions.push_back(std::exchange(asked, 0)); };
        count();
        hall.update([](seats&) {});
        count();
        hall.ask_all();
        count();
        hall.update([](seats& rule) { rule.free = 2; });
        count();
        hall.update([](seats& rule) { rule.free = 9; });
        count();
    };
    weir::sync_wait(time, weir::when_all(visit(1), visit(2), visit(3), visit(4), change()));
    CHECK(went == std::vector<int>{1, 2, 3, 4});
    CHECK(questions == std::vector<int>{8, 0, 4, 2, 2});
}

TEST_CASE("in a sorted line an update asks until one has to wait; ask_all asks for each") {
    virtual_time time;
    const std::string stage = "s";
    plain_slot me(stage, 0, time);
    int asked = 0;
    weir::detail::wait_queue<sorted> door(sorted{{}, &asked}, "");
    std::vector<int> went;
    std::vector<int> questions;
    const auto visit = [&](int n) -> task<> {
        const bool go = co_await door.wait(n, me, waits);
        went.push_back(go ? n : -n);
    };
    const auto change = [&]() -> task<> {
        co_await weir::sleep_for(1s);
        const auto count = [&] { questions.push_back(std::exchange(asked, 0)); };
        count();
        door.update([](sorted& rule) { rule.limit = 3; });
        count();
        door.update([](sorted&) {});
        count();
        door.ask_all();
        count();
        door.update([](sorted& rule) { rule.limit = 9; });
        count();
    };
    weir::sync_wait(time, weir::when_all(visit(5), visit(2), visit(4), visit(1), visit(3), change()));
    CHECK(went == std::vector<int>{1, 2, 3, 4, 5});
    CHECK(questions == std::vector<int>{10, 3, 1, 3, 3});
}

TEST_CASE("the time of a wait counts for a measured slot, in the given state") {
    virtual_time time;
    const std::string stage = "s";
    timed_slot me(stage, 0, time);
    plain_slot other(stage, 1, time);
    me.begin(0);
    other.begin(0);
    room door(below{}, "");
    const auto visit = [&](auto& slot) -> task<> { static_cast<void>(co_await door.wait(1, slot, waits)); };
    const auto change = [&]() -> task<> {
        co_await weir::sleep_for(3s);
        door.update([](below& rule) { rule.limit = 2; });
        co_await weir::sleep_for(2s);
    };
    weir::sync_wait(time, weir::when_all(visit(me), visit(other), change()));
    me.lock();
    const auto& spent = me.spent_until(5'000'000'000);
    CHECK(in(spent, waits) == 3'000'000'000);
    CHECK(in(spent, slot_state::run) == 2'000'000'000);
    me.unlock();
    other.lock();
    CHECK(in(other.spent_until(5'000'000'000), slot_state::runnable) == 5'000'000'000);
    other.unlock();
}

TEST_CASE("an admitted waiter is runnable until it resumes") {
    slow_world world;
    const std::string stage = "s";
    timed_slot me(stage, 0, world);
    me.begin(0);
    me.enter(slot_state::run, 0);
    room door(below{}, "");
    const auto visit = [&]() -> task<> { static_cast<void>(co_await door.wait(1, me, waits)); };
    const auto change = [&]() -> task<> {
        world.pass(3s);
        door.update([](below& rule) { rule.limit = 2; });
        world.pass(4s);
        co_return;
    };
    weir::sync_wait(world, weir::when_all(visit(), change()));
    me.lock();
    const auto& spent = me.spent_until(world.now().time_since_epoch().count());
    CHECK(in(spent, waits) == 3'000'000'000);
    CHECK(in(spent, slot_state::runnable) == 4'000'000'000);
    me.unlock();
}

TEST_CASE("a deadlock report names a waiter by stage, slot and purpose") {
    virtual_time time;
    const std::string stage = "decode";
    plain_slot me(stage, 3, time);
    room door(below{}, "for a better time");
    const auto visit = [&]() -> task<> { static_cast<void>(co_await door.wait(1, me, waits)); };
    std::string report;
    try {
        weir::sync_wait(time, visit());
    } catch (const weir::deadlock_error& e) {
        report = e.what();
    }
    CHECK(report.find("\n  stage 'decode', slot 3 waits for a better time") != std::string::npos);
    CHECK(weir::detail::waiters_at(door).empty());  // its frame is gone, and it has taken itself out
    door.update([](below& rule) { rule.limit = 9; });
}

TEST_CASE("on a pool many wait for their turn, and each goes when it comes") {
    weir::thread_pool pool(3);
    constexpr int each = 400;
    constexpr int waiters = 4;
    const std::string stage = "s";
    std::vector<std::unique_ptr<timed_slot>> slots;
    for (std::size_t i = 0; i < waiters; ++i) {
        slots.push_back(std::make_unique<timed_slot>(stage, i, pool));
        slots.back()->begin(pool.now().time_since_epoch().count());
    }
    room door(below{1}, "");
    std::vector<int> went;  // guarded by whose turn it is
    const auto visit = [&](int first) -> task<> {
        for (int n = first; n < each * waiters; n += waiters) {
            const bool go = co_await door.wait(n, *slots[static_cast<std::size_t>(first)], waits);
            if (!go) break;
            went.push_back(n);
            door.update([n](below& rule) { rule.limit = n + 2; });
        }
    };
    weir::sync_wait(pool, weir::when_all(visit(0), visit(1), visit(2), visit(3)));
    REQUIRE(went.size() == each * waiters);
    CHECK(std::ranges::is_sorted(went));
}
