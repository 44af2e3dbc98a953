#include <weir/stages/traverse.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/run/invocation.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/simulation/explore.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using items::contains;
using items::counted_from_1;
using items::message_of;
using items::sorted;
using items::take_all;
using weir::feeder;
using weir::task;
using weir::time_point;
using weir::traverse_order;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

// Node n of a binary tree has the children 2n and 2n + 1; the tree has the nodes 1 to `last`.
auto binary(int last) {
    return [last](int n, feeder<int>& more) {
        for (int child = 2 * n; child <= 2 * n + 1; ++child) {
            if (child <= last) more.add(child);
        }
        return n;
    };
}

// A node takes 10 ms, and has no children but by number.
task<int> ten_ms(int n, feeder<int>& more) {
    co_await weir::sleep_for(10ms);
    for (int child = 2 * n; child <= 2 * n + 1; ++child) {
        if (child <= 7) more.add(child);
    }
    co_return n;
}

}  // namespace

TEST_CASE("a traversal goes depth first: what was added last is next") {
    virtual_time time;
    auto run = (weir::source({1}) | weir::traverse(binary(7)) | weir::sink()).start(time);
    CHECK(take_all(run) == ints{1, 3, 7, 6, 2, 5, 4});
    CHECK(run.stats().stages.at(1).num_tasks == 7);
    CHECK(run.stats().channels.at(0).num_get == 1);
    // Of 1: 2 and 3; of 3: 6 and 7, beside 2.
    CHECK(run.stats().stages.at(1).added ==
          weir::added_stats{.num_added = 6, .num_waiting = 0, .most_waiting = 3, .num_discarded = 0});
}

TEST_CASE("a traversal in the order as found gives a tree level by level, whatever its slots take") {
    for (const std::size_t slots : {1U, 2U, 3U, 8U}) {
        virtual_time time;
        const auto uneven = [](int n, feeder<int>& more) -> task<int> {
            for (int child = 2 * n; child <= 2 * n + 1; ++child) {
                if (child <= 31) more.add(child);
            }
            co_await weir::sleep_for(std::chrono::milliseconds(100 / n));
            co_return n;
        };
        auto run =
            (weir::source({1}) |
             weir::traverse(uneven, {.concurrency = slots, .order = traverse_order::as_found}) | weir::sink())
                .start(time);
        CHECK(take_all(run) == counted_from_1(31));
        CHECK(flows::add_up(run.stats()));
    }
}

TEST_CASE("two slots of a traversal are measured to the nanosecond") {
    virtual_time time;
    auto run =
        (weir::source({1}) | weir::traverse(ten_ms, {.name = "walk", .concurrency = 2}) | weir::sink(100))
            .start(time);
    time.run();
    // 1 alone until 10 ms, then 3 and 2 until 20, and two of 4, 5, 6 and 7 at a time until 40.
    const weir::pipeline_stats all = run.stats();
    CHECK(time.now() == time_point(40ms));
    const weir::stage_stats& walk = all.stages.at(1);
    CHECK(walk.num_tasks == 7);
    CHECK(walk.task_time == 70ms);
    REQUIRE(walk.per_slot.size() == 2);
    CHECK(walk.per_slot[0].await + walk.per_slot[1].await == 70ms);
    CHECK(walk.per_slot[0].wait_get + walk.per_slot[1].wait_get == 10ms);
    CHECK(walk.times().total() == 80ms);
    CHECK(flows::add_up(all));
    CHECK(sorted(take_all(run)) == counted_from_1(7));
}

TEST_CASE("a traversal without an end ends when nobody wants more, or when its run is stopped") {
    const auto endless = [](int n, feeder<int>& more) {
        more.add(n + 1);
        return n;
    };
    virtual_time time;
    auto some =
        (weir::source({1}) | weir::traverse(endless, {.concurrency = 2}) | weir::take(5) | weir::sink())
            .start(time);
    CHECK(take_all(some).size() == 5);

    weir::thread_pool pool(2);
    auto left = (weir::source({1}) | weir::traverse(endless, {.concurrency = 2}) | weir::sink()).start(pool);
    int seen = 0;
    for (const int n : left) {
        if (++seen == 100) break;
        static_cast<void>(n);
    }
    left.stop();

    // It gives nothing, so that no stage behind it can tell it that the run was stopped.
    std::atomic<int> calls{0};
    auto silent = (weir::source({1}) | weir::traverse_each(
                                           [&calls](int n, feeder<int>& more) {
                                               calls.fetch_add(1);
                                               more.add(n);
                                           },
                                           {.concurrency = 2}))
                      .start(pool);
    while (calls.load() < 1000) std::this_thread::yield();
    silent.stop();
    CHECK(silent.outcome() == weir::run_outcome::stopped);
}

TEST_CASE("an item that fails is tried again later, after others") {
    virtual_time time;
    struct attempt {
        int item;
        int number;
    };
    const auto third_time = [](attempt a, feeder<attempt>& more) -> task<std::optional<int>> {
        co_await weir::sleep_for(1ms);
        if (a.item % 2 == 0 && a.number < 2) {
            ++a.number;
            more.add(a);
            co_return std::nullopt;
        }
        co_return a.item * 10 + a.number;
    };
    std::vector<attempt> first;
    for (int i = 1; i <= 4; ++i) first.push_back({i, 0});
    auto run =
        (weir::source(first) | weir::traverse(third_time, {.concurrency = 2}) | weir::sink()).start(time);
    CHECK(sorted(take_all(run)) == ints{10, 22, 30, 42});
    CHECK(run.stats().stages.at(1).num_tasks == 8);
}

TEST_CASE("a traversal that ends its pipeline calls its function with every node") {
    virtual_time time;
    ints seen;
    auto run = (weir::source({1}) | weir::traverse_each(
                                        [&seen](int n, feeder<int>& more) {
                                            binary(15)(n, more);
                                            seen.push_back(n);
                                        },
                                        {.order = traverse_order::as_found}))
                   .start(time);
    CHECK(run.wait().items == 15);
    CHECK(seen == counted_from_1(15));
}

TEST_CASE("a traversal's function may take the invocation, be made per slot, and give many or nothing") {
    virtual_time time;
    std::set<std::uint64_t> numbers;
    const auto numbered = [&numbers](int n, feeder<int>& more, const weir::invocation& call) {
        numbers.insert(call.item());
        return binary(7)(n, more);
    };
    auto a = (weir::source({1}) | weir::traverse(numbered, {.concurrency = 2}) | weir::sink()).start(time);
    CHECK(sorted(take_all(a)) == counted_from_1(7));
    CHECK(numbers == std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6});

    int made = 0;
    const auto make = [&made] {
        ++made;
        return [](int n, feeder<int>& more) { return binary(7)(n, more); };
    };
    auto b = (weir::source({1}) | weir::traverse(weir::per_slot(make), {.concurrency = 2}) | weir::sink())
                 .start(time);
    CHECK(sorted(take_all(b)) == counted_from_1(7));
    CHECK(made == 2);

    const auto thrice = [](int n, feeder<int>& more) -> weir::generator<int> {
        if (n < 3) more.add(n + 1);
        for (int i = 0; i < n; ++i) co_yield n;
    };
    auto c = (weir::source({1}) | weir::traverse(thrice) | weir::sink()).start(time);
    CHECK(take_all(c) == ints{1, 2, 2, 3, 3, 3});

    const auto odd = [](int n, feeder<int>& more) {
        binary(7)(n, more);
        return n % 2 == 1 ? std::optional<int>(n) : std::nullopt;
    };
    auto d = (weir::source({1}) | weir::traverse(odd) | weir::sink()).start(time);
    CHECK(sorted(take_all(d)) == ints{1, 3, 5, 7});
}

TEST_CASE("no item of a traversal overtakes the end of its epoch, and no epoch begins before") {
    for (const std::size_t slots : {1U, 2U, 5U}) {
        for (const auto order : {traverse_order::depth_first, traverse_order::as_found}) {
            virtual_time time;
            const auto grow = [](int n, feeder<int>& more) -> task<int> {
                co_await weir::sleep_for(std::chrono::milliseconds(n % 7));
                if (n % 1000 < 100) {
                    more.add(n + 100);
                    more.add(n + 200);
                }
                co_return n;
            };
            const auto epoch = [](std::uint64_t e) {
                ints all;
                for (int i = 0; i < 5; ++i) all.push_back(static_cast<int>(e) * 1000 + i);
                return all;
            };
            auto run = (weir::source(weir::epochs(epoch, 3)) |
                        weir::traverse(grow, {.concurrency = slots, .order = order}) | weir::sink())
                           .start(time);
            const auto all = flows::by_epoch(run);
            REQUIRE(all.size() == 3);
            for (std::size_t e = 0; e < 3; ++e) {
                ints expected;
                for (const int base : {0, 100, 200}) {
                    for (int i = 0; i < 5; ++i) expected.push_back(static_cast<int>(e) * 1000 + base + i);
                }
                CHECK(sorted(all[e].second) == expected);
            }
            CHECK(flows::add_up(run.stats()));
        }
    }
}

TEST_CASE("a checkpoint counts a draw when all that was added for it has been taken") {
    virtual_time time;
    const auto grow = [](weir::draw d, feeder<weir::draw>& more) {
        if (d.index < 10) {
            weir::draw other = d;
            other.index += 10;
            more.add(other);
        }
        return d.index;
    };
    auto run = (weir::source(weir::draws(weir::sampler({.size = 4, .shuffle = false}), 1)) |
                weir::traverse(grow) | weir::sink(1))
                   .start(time);
    CHECK(*run.get() == 0);
    CHECK(contains(message_of([&] { static_cast<void>(run.checkpoint()); }), "no checkpoint is exact now"));
    CHECK(*run.get() == 10);
    CHECK(run.checkpoint().watermark() == 1);
    while (run.get()) {
    }
    CHECK(run.checkpoint().watermark() == 4);
    CHECK(run.stats().stages.at(1).num_tasks == 8);
}

TEST_CASE("the slots of a traversal may become fewer and more, and no item is lost") {
    for (const auto order : {traverse_order::depth_first, traverse_order::as_found}) {
        virtual_time time;
        const auto slow = [](int n, feeder<int>& more) -> task<int> {
            for (int child = 2 * n; child <= 2 * n + 1; ++child) {
                if (child <= 255) more.add(child);
            }
            co_await weir::sleep_for(10ms);
            co_return n;
        };
        auto run =
            (weir::source({1}) | weir::traverse(slow, {.name = "walk", .concurrency = 4, .order = order}) |
             weir::sink(1000))
                .start(time);
        const std::vector<std::size_t> next = {1, 3, 1, 8, 2};
        for (std::size_t i = 0; i < next.size(); ++i) {
            time.run_until(time_point(std::chrono::milliseconds(45 + 40 * i)));
            run.set_concurrency("walk", next[i]);
            CHECK(flows::add_up(run.stats()));
        }
        time.run();
        CHECK(sorted(take_all(run)) == counted_from_1(255));
    }
}

TEST_CASE("a traversal that lets nothing wait, or no end of items, is refused") {
    virtual_time time;
    const auto refusal_of = [&](std::size_t wrong) {
        const auto p = weir::source({1}) | weir::traverse(binary(3), {.name = "walk", .max_waiting = wrong}) |
                       weir::sink();
        return message_of([&] { static_cast<void>(p.start(time)); });
    };
    CHECK(refusal_of(0) ==
          "weir: stage 'walk' lets no item wait that its function adds; give it .max_waiting = 1 or more");
    CHECK(refusal_of(static_cast<std::size_t>(-1)) ==
          "weir: stage 'walk' has a .max_waiting that was negative, or is above half of the greatest "
          "std::size_t; give it 1 or more, below that");
}

TEST_CASE("hooks hear of every item of a traversal, and one that takes too long has failed") {
    struct counting : weir::hook {
        int num_before = 0;
        void before(const weir::invocation&) override { ++num_before; }
    };
    virtual_time time;
    const auto hook = std::make_shared<counting>();
    const auto late = [](int n, feeder<int>& more) -> task<int> {
        binary(7)(n, more);
        co_await weir::sleep_for(n == 3 ? 20ms : 1ms);
        co_return n;
    };
    auto run = (weir::source({1}) |
                weir::traverse(late, {.max_failures = 1, .time_limit = 10ms, .hooks = {hook}}) | weir::sink())
                   .start(time);
    CHECK(sorted(take_all(run)) == ints{1, 2, 4, 5, 6, 7});
    CHECK(hook->num_before == 7);
    CHECK(run.stats().stages.at(1).num_failures == 1);
}

TEST_CASE("every schedule of a traversal takes each node once, and its figures agree") {
    for (const auto order : {traverse_order::depth_first, traverse_order::as_found}) {
        const auto p = weir::source({1, 100}) |
                       weir::traverse(binary(7), {.concurrency = 3, .order = order}) | weir::sink();
        const auto judge = [](ints all) {
            if (sorted(std::move(all)) != ints{1, 2, 3, 4, 5, 6, 7, 100}) throw std::logic_error("wrong");
        };
        CHECK(weir::simulation::explore(p, judge, {.schedules = 400}).schedules == 400);
    }
    const auto each =
        weir::source({1}) |
        weir::traverse_each([](int n, feeder<int>& more) { binary(7)(n, more); }, {.concurrency = 2});
    const auto judge = [](const weir::run_result& r) {
        if (r.items != 7) throw std::logic_error("wrong");
    };
    CHECK(weir::simulation::explore(each, judge, {.schedules = 400}).schedules == 400);
}

TEST_CASE("threads traverse a tree, take each node once, and give back every item") {
    weir::thread_pool pool(4);
    items::ledger book(300'000);
    std::atomic<std::size_t> calls{0};
    const auto grow = [&](items::counted item, feeder<items::counted>& more) {
        const std::size_t n = calls.fetch_add(1);
        if (n < 20'000) {
            more.add(items::counted(book));
            if (n % 3 == 0) more.add(items::counted(book));
        }
        static_cast<void>(item);
    };
    for (const auto order : {traverse_order::depth_first, traverse_order::as_found}) {
        calls = 0;
        const std::size_t before = book.born();
        std::vector<items::counted> roots;
        for (int i = 0; i < 10; ++i) roots.emplace_back(book);
        auto run =
            (weir::source(std::move(roots)) | weir::traverse_each(grow, {.concurrency = 4, .order = order}))
                .start(pool);
        const auto result = run.wait();
        CHECK(result.items == book.born() - before);
        CHECK(flows::add_up(result.stats));
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}
