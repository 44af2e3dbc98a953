#include <weir/stages/feeder.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/run/failure.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/traverse.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using items::contains;
using items::counted_from_1;
using items::message_of;
using items::sorted;
using items::take_all;
using items::take_until_failure;
using weir::feeder;
using weir::task;
using weir::time_point;
using weir::traverse_order;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

// A node takes 10 ms, and has no children but by number.
task<int> ten_ms(int n, feeder<int>& more) {
    co_await weir::sleep_for(10ms);
    for (int child = 2 * n; child <= 2 * n + 1; ++child) {
        if (child <= 7) more.add(child);
    }
    co_return n;
}

// An item of a ledger, once.
auto one_of(items::ledger& book) {
    return [&book, n = 0]() mutable -> std::optional<items::counted> {
        if (n++ > 0) return std::nullopt;
        return std::optional<items::counted>(std::in_place, book);
    };
}

}  // namespace

// The stage makes the feeder; a function has a reference to it, and nothing else.
static_assert(!std::is_constructible_v<feeder<int>> && !std::is_copy_constructible_v<feeder<int>>);
static_assert(!std::is_move_constructible_v<feeder<int>> && !std::is_copy_assignable_v<feeder<int>>);
static_assert(!std::is_destructible_v<feeder<int>>);

TEST_CASE("pending items come before the next one of the stage before") {
    virtual_time time;
    const auto twice = [](int n, feeder<int>& more) {
        if (n < 100) more.add(n + 100);
        return n;
    };
    for (const auto order : {traverse_order::depth_first, traverse_order::as_found}) {
        auto run =
            (weir::source({1, 2, 3}) | weir::traverse(twice, {.order = order}) | weir::sink()).start(time);
        CHECK(take_all(run) == ints{1, 101, 2, 102, 3, 103});
    }
}

TEST_CASE("a slot that waits for the stage before takes what another one adds meanwhile") {
    virtual_time time;
    // The second item of the source never comes before all is done.
    const auto slow_source = [n = 0]() mutable -> task<std::optional<int>> {
        if (n++ > 0) co_await weir::sleep_for(1s);
        co_return n <= 2 ? std::optional<int>(n == 1 ? 1 : 1000) : std::nullopt;
    };
    auto run = (weir::source(slow_source) | weir::traverse(ten_ms, {.concurrency = 2}) | weir::sink(100))
                   .start(time);
    time.run_until(time_point(45ms));
    CHECK(run.stats().stages.at(1).num_tasks == 7);
    CHECK(run.stats().channels.at(1).num_put == 7);
    time.run();
    CHECK(run.stats().stages.at(1).num_tasks == 8);
    CHECK(flows::add_up(run.stats()));
}

TEST_CASE("a deep tree needs few places, and one item too many fails the item that adds it") {
    virtual_time time;
    const auto chain = [](int n, feeder<int>& more) {
        if (n < 20'000) {
            more.add(n + 1);
            more.add(1'000'000);
        }
        return n;
    };
    // Depth first a leaf is done before the chain goes on.
    auto run = (weir::source({1}) | weir::traverse(chain, {.max_waiting = 2}) | weir::sink(1000)).start(time);
    CHECK(take_all(run).size() == 39'999);

    auto wide = (weir::source({1}) |
                 weir::traverse(
                     [](int n, feeder<int>& more) {
                         for (int i = 0; n == 1 && i < 4; ++i) more.add(10 + i);
                         return n;
                     },
                     {.name = "wide", .max_waiting = 3}) |
                 weir::sink())
                    .start(time);
    const auto ended = take_until_failure(wide);
    REQUIRE(ended.failed != nullptr);
    CHECK(ended.inside ==
          "weir: stage 'wide' has 3 items that its function added and that no slot has begun, "
          "and .max_waiting allows no more: give it more, or add fewer at a time");
}

TEST_CASE("what a function added before it failed stays added, where that is tolerated") {
    virtual_time time;
    std::vector<std::uint64_t> failed;
    const auto picky = [](int n, feeder<int>& more) {
        if (n < 10) more.add(n + 10);
        if (n == 2) throw std::runtime_error("two");
        return n;
    };
    auto run = (weir::source({1, 2, 3}) | weir::traverse(picky, {.max_failures = 1}) | weir::sink())
                   .start(time, {.on_failure = [&](const weir::failure& f) { failed.push_back(f.item); }});
    CHECK(take_all(run) == ints{1, 11, 12, 3, 13});
    CHECK(failed == std::vector<std::uint64_t>{2});
    CHECK(run.stats().stages.at(1).num_failures == 1);
}

TEST_CASE("a failure too many stops a traversal, and every pending item is destroyed once") {
    virtual_time time;
    items::ledger book(1000);
    const auto bad = [&book](items::counted item, feeder<items::counted>& more) {
        for (int i = 0; i < 5; ++i) more.add(items::counted(book));
        if (item.number() > 20) throw std::runtime_error("enough");
        return item;
    };
    {
        const auto first = [&book, n = 0]() mutable -> std::optional<items::counted> {
            if (n++ > 0) return std::nullopt;
            return std::optional<items::counted>(std::in_place, book);
        };
        auto run = (weir::source(first) | weir::traverse(bad, {.concurrency = 3}) | weir::sink()).start(time);
        const auto ended = take_until_failure(run);
        REQUIRE(ended.failed != nullptr);
        CHECK(ended.inside == "enough");
        const auto added = run.stats().stages.at(1).added;
        REQUIRE(added.has_value());
        CHECK(added->num_waiting == 0);
        CHECK(added->num_discarded > 0);
        CHECK(added->num_added + 1 == run.stats().stages.at(1).num_tasks + added->num_discarded);
    }
    CHECK(book.born() > 20);
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("a slot that waits for other slots leaves when it is taken out of service") {
    virtual_time time;
    const auto slow = [](int n, feeder<int>& more) -> task<int> {
        co_await weir::sleep_for(100ms);
        if (n < 3) more.add(n + 1);
        co_return n;
    };
    auto run = (weir::source({1}) | weir::traverse(slow, {.name = "walk", .concurrency = 3}) | weir::sink(10))
                   .start(time);
    time.run_until(time_point(50ms));
    run.set_concurrency("walk", 1);
    time.run_until(time_point(60ms));
    CHECK(run.stats().stages.at(1).times().off == 20ms);
    time.run();
    CHECK(take_all(run) == ints{1, 2, 3});
}

TEST_CASE("an item that a slot adds as it leaves service is taken, and the epoch ends behind it") {
    for (const auto order : {traverse_order::depth_first, traverse_order::as_found}) {
        virtual_time time;
        const auto adds_late = [](int n, feeder<int>& more) -> task<int> {
            co_await weir::sleep_for(n == 1 ? 10ms : 30ms);
            if (n == 2) more.add(3);
            co_return n;
        };
        auto run =
            (weir::source(weir::epochs(ints{1, 2}, 1)) |
             weir::traverse(adds_late, {.name = "walk", .concurrency = 2, .order = order}) | weir::sink(9))
                .start(time);
        // One slot has the mark of the epoch, and waits for the other slot, which works at 2.
        time.run_until(time_point(20ms));
        run.set_concurrency("walk", 1);
        time.run();
        CHECK(flows::by_epoch(run).at(0).second == ints{1, 2, 3});
    }
}

TEST_CASE("a slot that was to take from the queue, and takes an added item, leaves the queue to others") {
    for (const auto order : {traverse_order::depth_first, traverse_order::as_found}) {
        virtual_time time;
        const auto adds_first = [](int n, feeder<int>& more) -> task<int> {
            if (n == 1) more.add(100);
            co_await weir::sleep_for(n == 100 ? 40ms : 10ms);
            co_return n;
        };
        // Both slots wait when the first item comes.
        const auto late_source = [n = 0]() mutable -> task<std::optional<int>> {
            if (n == 0) co_await weir::sleep_for(1ms);
            co_return ++n <= 4 ? std::optional<int>(n) : std::nullopt;
        };
        auto run =
            (weir::source(late_source) |
             weir::traverse(adds_first, {.concurrency = 2, .order = order, .capacity = 9}) | weir::sink(9))
                .start(time);
        time.run();
        CHECK(time.now() == time_point(41ms));  // one slot takes 100, the other slot takes 1, 2, 3, 4
        CHECK(sorted(take_all(run)) == ints{1, 2, 3, 4, 100});
    }
}

TEST_CASE("a slot of a traversal that is destroyed in a deadlock leaves the other slots whole") {
    struct gate {  // an awaitable of another library, which no stop ends
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) noexcept { waiting = h; }
        void await_resume() const noexcept {}
        void open() {
            if (waiting) std::exchange(waiting, nullptr).resume();
        }
        std::coroutine_handle<> waiting;
    };
    struct opener {
        explicit opener(gate& g) noexcept : opens(g) {}
        opener(const opener&) = delete;
        opener& operator=(const opener&) = delete;
        ~opener() { opens.open(); }
        gate& opens;
    };
    virtual_time time;
    gate never, other;
    bool has_ended = false;
    const auto waits = [&](int n, feeder<int>&) -> task<int> {
        if (n == 1) {
            const opener last(other);
            co_await never;
        } else {
            co_await other;
            has_ended = true;
        }
        co_return n;
    };
    {
        auto run =
            (weir::source({1, 2}) | weir::traverse(waits, {.concurrency = 2}) | weir::sink()).start(time);
        time.run();
        REQUIRE(never.waiting);
        REQUIRE(other.waiting);
    }
    CHECK(has_ended);
}

TEST_CASE("a feeder that is used after its function has ended says so") {
    virtual_time time;
    feeder<int>* kept = nullptr;
    const auto keeps = [&kept](int n, feeder<int>& more) {
        kept = &more;
        return n;
    };
    auto run = (weir::source({1}) | weir::traverse(keeps) |
                weir::pipe([&kept](int n) { return message_of([&] { kept->add(n); }); }) | weir::sink())
                   .start(time);
    CHECK(
        contains(take_all(run).at(0), "a feeder was used after the function that it was given to has ended"));
}

TEST_CASE("several threads may add at once within one call") {
    weir::blocking_pool pool(2);
    const auto many = [](int n, feeder<int>& more) {
        if (n != 0) return n;
        std::vector<std::jthread> threads;
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back([&more, t] {
                for (int i = 0; i < 500; ++i) more.add(1 + t * 500 + i);
            });
        }
        return n;
    };
    auto run = (weir::source({0}) | weir::traverse(many, {.concurrency = 2}) | weir::sink()).start(pool);
    ints expected = counted_from_1(1500);
    expected.insert(expected.begin(), 0);
    CHECK(sorted(take_all(run)) == expected);
}

TEST_CASE("an item too many is destroyed, and a function that goes on loses no other") {
    for (const auto order : {traverse_order::depth_first, traverse_order::as_found}) {
        virtual_time time;
        items::ledger book(100);
        int refused = 0;
        const auto tries = [&](items::counted item, feeder<items::counted>& more) {
            for (int i = 0; item.number() == 0 && i < 5; ++i) {
                try {
                    more.add(items::counted(book));
                } catch (const std::length_error&) {
                    ++refused;
                    CHECK(book.alive() == 1 + 3);  // `item`, and those that wait
                }
            }
            return item;
        };
        {
            auto run = (weir::source(one_of(book)) |
                        weir::traverse(tries, {.order = order, .max_waiting = 3}) | weir::sink())
                           .start(time);
            CHECK(take_all(run).size() == 4);
            CHECK(run.stats().stages.at(1).added == weir::added_stats{.num_added = 3, .most_waiting = 3});
        }
        CHECK(refused == 2);
        CHECK(book.alive() == 0);
        CHECK(book.died_twice() == 0);
    }
}

TEST_CASE("a checkpoint does not wait for an item that a feeder has refused") {
    for (const bool goes_on : {true, false}) {
        virtual_time time;
        int refused = 0;
        const auto tries = [&](weir::draw d, feeder<weir::draw>& more) {
            for (int i = 0; d.index == 0 && refused == 0 && i < 3; ++i) {
                try {
                    more.add(d);
                } catch (const std::length_error&) {
                    ++refused;
                    if (!goes_on) throw;
                }
            }
            return d;
        };
        auto run = (weir::source(weir::draws(weir::sampler({.size = 4, .shuffle = false}), 1)) |
                    weir::traverse(tries, {.max_waiting = 2, .max_failures = weir::unlimited}) | weir::sink())
                       .start(time);
        CHECK(take_all(run).size() == (goes_on ? 6 : 5));
        CHECK(refused == 1);
        CHECK(run.checkpoint().watermark() == 4);
    }
}

TEST_CASE(
    "a feeder may be used until the task of the function has ended; an item that comes later is destroyed") {
    virtual_time time;
    items::ledger book(100);
    feeder<items::counted>* kept = nullptr;
    const auto adds_late = [&](items::counted item, feeder<items::counted>& more) -> task<items::counted> {
        co_await weir::sleep_for(10ms);
        if (item.number() == 0) more.add(items::counted(book));
        kept = &more;
        co_return item;
    };
    bool has_thrown = false;
    const auto adds_too_late = [&](items::counted item) {
        if (item.number() == 0) return item;  // the function has the added item now
        try {
            kept->add(items::counted(book));
        } catch (const std::logic_error&) {
            has_thrown = true;
        }
        return item;
    };
    {
        auto run = (weir::source(one_of(book)) | weir::traverse(adds_late) | weir::pipe(adds_too_late) |
                    weir::sink())
                       .start(time);
        CHECK(take_all(run).size() == 2);
        CHECK(run.stats().stages.at(1).added.value().num_added == 1);
    }
    CHECK(has_thrown);
    CHECK(book.born() == 3);
    CHECK(book.alive() == 0);
}

TEST_CASE("after a stop of the run an item that is added is destroyed without an error") {
    virtual_time time;
    items::ledger book(100);
    std::size_t alive_after_add = 0;
    bool was_stopped = false, has_added = false;
    const auto slow = [&](items::counted item, feeder<items::counted>& more) -> task<items::counted> {
        for (int i = 0; i < 5; ++i) {  // so that the other slot ends meanwhile
            try {
                co_await weir::sleep_for(10ms);
            } catch (const weir::stopped&) {
                was_stopped = true;
            }
        }
        more.add(items::counted(book));
        has_added = true;
        alive_after_add = book.alive();
        co_return item;
    };
    // The other slot waits for a second item, until the stop.
    const auto one_for_now = [first = one_of(book), n = 0]() mutable -> task<std::optional<items::counted>> {
        if (n++ > 0) co_await weir::sleep_for(1s);
        co_return first();
    };
    {
        auto run =
            (weir::source(one_for_now) | weir::traverse(slow, {.concurrency = 2}) | weir::sink()).start(time);
        time.run_until(time_point(5ms));
        run.stop();
        CHECK(was_stopped);
        CHECK(has_added);
        CHECK(alive_after_add == 1);
        CHECK(run.outcome() == weir::run_outcome::stopped);
        CHECK(run.stats().stages.at(1).num_failures == 0);
        CHECK(run.stats().stages.at(1).added == weir::added_stats());
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}
