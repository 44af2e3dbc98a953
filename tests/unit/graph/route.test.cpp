#include <weir/graph/route.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/merge.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using flows::by_epoch;
using items::contains;
using items::message_of;
using items::sorted;
using items::take_all;
using items::take_until_failure;
using weir::branch;
using weir::duration;
using weir::route;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using epochs_of_ints = std::vector<std::pair<std::size_t, ints>>;

namespace {

auto plus(int m) {
    return weir::pipe([m](int n) { return n + m; });
}

auto takes(duration d, weir::stage_options o = {}) {
    return weir::pipe(
        [d](int n) -> task<int> {
            co_await weir::sleep_for(d);
            co_return n;
        },
        std::move(o));
}

auto numbers(int from, int to) { return weir::source(std::views::iota(from, to)); }

std::size_t parity(int n) { return static_cast<std::size_t>(n % 2); }

template <class Part>
ints sorted_of(Part part, int from, int to) {
    virtual_time time;
    return sorted(take_all((numbers(from, to) | std::move(part) | weir::sink()).start(time)));
}

}  // namespace

TEST_CASE("each item goes into the branch that is chosen by place, or by name") {
    const ints expected = {10, 12, 14, 101, 103, 105};
    const auto parts = [](auto chooser) {
        return route(chooser, branch("even", plus(10)), branch("odd", plus(100)));
    };
    CHECK(sorted_of(parts(parity), 0, 6) == expected);
    CHECK(sorted_of(parts([](const int& n) { return n % 2; }), 0, 6) == expected);
    CHECK(sorted_of(parts([](int n) { return static_cast<short>(n % 2); }), 0, 6) == expected);
    CHECK(sorted_of(parts([](int n) { return n % 2 == 0 ? "even" : "odd"; }), 0, 6) == expected);
    CHECK(sorted_of(parts([](int n) { return std::string(n % 2 == 0 ? "even" : "odd"); }), 0, 6) == expected);
    CHECK(sorted_of(parts([](int n) { return std::string_view(n % 2 == 0 ? "even" : "odd"); }), 0, 6) ==
          expected);
    // false is branch 0, true is branch 1.
    CHECK(sorted_of(parts([](int n) { return n % 2 == 1; }), 0, 6) == expected);
}

TEST_CASE("a chooser may wait, and hold up all that comes behind") {
    const auto asks = [](const int& n) -> task<std::string> {
        co_await weir::sleep_for(10ms);
        co_return n < 3 ? std::string("low") : std::string("high");
    };
    virtual_time time;
    auto run =
        (numbers(0, 6) | route(asks, {.name = "ask"}, branch("low", plus(10)), branch("high", plus(100))) |
         weir::sink())
            .start(time);
    CHECK(take_all(run) == ints{10, 11, 12, 103, 104, 105});
    CHECK(time.now() == weir::time_point(60ms));
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).name == "ask");
    CHECK(stats.stages.at(1).times().await == 60ms);
    CHECK(stats.stages.at(1).num_tasks == 6);
    CHECK(flows::add_up(stats));
}

TEST_CASE("a choice that fails is a failure of its item, tolerated or not") {
    const auto chooser = [](int n) -> int {
        if (n == 2) throw std::runtime_error("undecided");
        if (n == 4) return 7;
        if (n == 5) return -1;
        return n % 2;
    };
    virtual_time time;
    std::vector<std::uint64_t> failed;
    std::vector<std::string> why;
    const auto note = [&](const weir::failure& f) {
        failed.push_back(f.item);
        why.push_back(message_of([&f] { std::rethrow_exception(f.error); }));
    };
    const auto pipeline = [&chooser](weir::route_options o) {
        return numbers(0, 8) | route(chooser, std::move(o), branch("a"), branch("b", plus(100))) |
               weir::sink();
    };
    CHECK(sorted(take_all(pipeline({.max_failures = weir::unlimited}).start(time, {.on_failure = note}))) ==
          ints{0, 6, 101, 103, 107});
    CHECK(failed == std::vector<std::uint64_t>{2, 4, 5});
    CHECK(why.at(0) == "undecided");
    CHECK(why.at(1) == "weir: an item was sent to branch 7 of 2; they are counted from 0");
    CHECK(why.at(2) == "weir: an item was sent to branch -1 of 2; they are counted from 0");

    CHECK(sorted(take_all(pipeline({}).start(time, {.max_failures = 3}))) == ints{0, 6, 101, 103, 107});
    const auto end = take_until_failure(pipeline({.name = "choose", .max_failures = 1}).start(time));
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "choose");
    CHECK(end.failed->failures().front().item == 4);
    CHECK(sorted(end.taken) == ints{0, 101, 103});

    const auto strict = take_until_failure(pipeline({}).start(time));
    CHECK(strict.inside == "undecided");
    CHECK(sorted(strict.taken) == ints{0, 101});
}

TEST_CASE("a name that no branch has is told with those there are") {
    virtual_time time;
    const auto end = take_until_failure(
        (numbers(0, 2) | route([](int) { return "up"; }, branch("left"), branch("right")) | weir::sink())
            .start(time));
    REQUIRE(end.failed);
    CHECK(end.inside ==
          "weir: an item was sent to a branch named 'up', and the branches are 'left', 'right'");
}

TEST_CASE("two branches of one name are refused when they are put together") {
    CHECK_THROWS_AS(route(parity, branch("a"), branch("a")), std::invalid_argument);
    CHECK(message_of([] { static_cast<void>(route(parity, branch("a"), branch("b"), branch("a"))); }) ==
          "weir: two branches are named 'a'; give each a name of its own");
}

TEST_CASE("all items may go into one branch, and a branch may be empty or alone") {
    CHECK(sorted_of(route([](int) { return 0; }, branch("all", plus(1)), branch("none", plus(1000))), 0, 5) ==
          ints{1, 2, 3, 4, 5});
    CHECK(sorted_of(route(parity, branch("pass"), branch("odd", plus(100))), 0, 4) == ints{0, 2, 101, 103});
    CHECK(sorted_of(route([](int) { return 0; }, branch("only", plus(1))), 0, 3) == ints{1, 2, 3});
    CHECK(sorted_of(route([](int) { return 0; }, branch("only")), 0, 3) == ints{0, 1, 2});
    CHECK(sorted_of(route(parity, branch("even"), branch("odd", plus(100))), 0, 0).empty());
}

TEST_CASE("the order of each branch is kept, whatever their lengths") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        virtual_time time(seed);
        const auto long_one = plus(0) | takes(3ms) | plus(0) | plus(0);
        const ints all = take_all((numbers(0, 40) |
                                   route([](int n) { return n % 3; }, branch("long", long_one),
                                         branch("short"), branch("one", takes(1ms))) |
                                   weir::sink())
                                      .start(time));
        REQUIRE(all.size() == 40);
        for (int i = 0; i < 3; ++i) {
            ints of_branch;
            std::ranges::copy_if(all, std::back_inserter(of_branch), [i](int n) { return n % 3 == i; });
            CHECK(std::ranges::is_sorted(of_branch));
        }
    }
}

TEST_CASE("batches are made and taken apart inside of branches") {
    virtual_time time;
    const auto sum = weir::pipe([](const ints& batch) {
        int all = 0;
        for (const int n : batch) all += n;
        return all;
    });
    // even: 0+2, 4+6, 8; odd: passed
    CHECK(sorted(take_all((numbers(0, 10) |
                           route(parity, branch("even", weir::aggregate(2) | sum), branch("odd", plus(100))) |
                           weir::sink())
                              .start(time))) == ints{2, 8, 10, 101, 103, 105, 107, 109});
    CHECK(sorted_of(route(parity, branch("even", weir::aggregate(3) | weir::disaggregate()), branch("odd")),
                    0, 9) == ints{0, 1, 2, 3, 4, 5, 6, 7, 8});
    // Branches may change the type of the items, all to the same one.
    const auto text = weir::pipe([](int n) { return std::to_string(n); });
    auto texts = take_all(
        (numbers(8, 11) | route(parity, branch("even", text), branch("odd", plus(1) | text)) | weir::sink())
            .start(time));
    std::ranges::sort(texts);
    CHECK(texts == std::vector<std::string>{"10", "10", "8"});
}

TEST_CASE("a branch drops items, or makes several of one") {
    CHECK(sorted_of(route(parity, branch("even", weir::pipe([](int n) -> std::optional<int> {
                                             if (n % 4 == 0) return std::nullopt;
                                             return n;
                                         })),
                          branch("odd", weir::pipe([](int n) -> weir::generator<int> {
                                     co_yield n;
                                     co_yield 100 + n;
                                 }))),
                    0, 6) == ints{1, 2, 3, 5, 101, 103, 105});
}

TEST_CASE("routes stand in branches of routes, first thing or later, and behind merges") {
    const auto inner = route([](int n) { return n < 4 ? "low" : "high"; }, branch("low", plus(10)),
                             branch("high", plus(100)));
    const ints expected = {1, 3, 5, 7, 10, 12, 104, 106};
    CHECK(sorted_of(route(parity, branch("even", inner), branch("odd")), 0, 8) == expected);
    CHECK(sorted_of(route(parity, branch("even", plus(0) | inner | plus(0)), branch("odd")), 0, 8) ==
          expected);
    CHECK(sorted_of(route(parity, branch("even", route(parity, branch("x", inner), branch("y"))),
                          branch("odd")),
                    0, 8) == expected);
    virtual_time time;
    CHECK(sorted(take_all((weir::merge(numbers(0, 4), numbers(4, 8)) |
                           route(parity, branch("even", inner), branch("odd")) | weir::sink())
                              .start(time))) == expected);
}

TEST_CASE("pipes of several slots work inside of branches") {
    virtual_time time;
    auto run = (numbers(0, 12) |
                route(parity, branch("even", takes(10ms, {.concurrency = 3})),
                      branch("odd", takes(10ms, {.concurrency = 2}))) |
                weir::sink())
                   .start(time);
    CHECK(sorted(take_all(run)) == ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    CHECK(time.now() == weir::time_point(30ms));
    CHECK(flows::add_up(run.stats()));
}

TEST_CASE("no item crosses the end of its epoch, however slow its branch") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        CAPTURE(seed);
        const auto epoch = [](std::uint64_t e) {
            const int first = 10 * static_cast<int>(e);
            return std::views::iota(first, first + (e == 1 ? 0 : e == 2 ? 1 : 9));
        };
        const auto pipeline =
            weir::source(weir::epochs(epoch, 5)) |
            route([](int n) { return n % 3; }, branch("slow", takes(30ms, {.concurrency = 2})),
                  branch("fast"), branch("batch", weir::aggregate(2) | weir::disaggregate())) |
            weir::sink();
        auto all = by_epoch(pipeline.start(time));
        for (auto& each : all) std::ranges::sort(each.second);
        epochs_of_ints expected;
        for (std::uint64_t e = 0; e < 5; ++e) {
            const auto range = epoch(e);
            expected.emplace_back(e, ints(range.begin(), range.end()));
        }
        CHECK(all == expected);
    }
}

TEST_CASE("an aggregate in a branch gives what it has at the end of each epoch") {
    virtual_time time;
    const auto pipeline =
        weir::source(weir::epochs(ints{0, 1, 2, 3, 4}, 2)) |
        route(parity, branch("even", weir::aggregate(2)), branch("odd", weir::aggregate(2))) | weir::sink();
    auto all = by_epoch(pipeline.start(time));
    REQUIRE(all.size() == 2);
    for (auto& each : all) {
        std::ranges::sort(each.second);
        CHECK(each.second == std::vector<ints>{{0, 2}, {1, 3}, {4}});
    }
}

TEST_CASE("a failure's number is that of the item, whatever epoch it is in") {
    virtual_time time;
    std::vector<std::uint64_t> failed;
    const auto chooser = [](int n) {
        if (n == 2) throw std::runtime_error("two");
        return 0;
    };
    const auto pipeline =
        weir::source(weir::epochs(ints{1, 2, 3}, 3)) | route(chooser, branch("all")) | weir::sink();
    CHECK(take_all(
              pipeline.start(time,
                             {.max_failures = weir::unlimited,
                              .on_failure = [&failed](const weir::failure& f) { failed.push_back(f.item); }}))
              .size() == 6);
    CHECK(failed == std::vector<std::uint64_t>{1, 4, 7});
}

TEST_CASE("an item whose choice failed counts as taken in a checkpoint") {
    virtual_time time;
    const auto chooser = [](const weir::draw& d) {
        if (d.index % 2 == 1) throw std::runtime_error("odd");
        return 0;
    };
    auto run = (weir::source(weir::draws(weir::sampler({.size = 10}), 1)) |
                route(chooser, branch("all"), branch("none")) | weir::sink())
                   .start(time, {.max_failures = weir::unlimited});
    CHECK(take_all(run).size() == 5);
    auto rest =
        (weir::source(weir::draws(weir::sampler({.size = 10, .resume = run.checkpoint()}), 1)) | weir::sink())
            .start(time);
    CHECK(take_all(rest).empty());
}

TEST_CASE("where a branch has failed no epoch ends behind it, and nothing is dropped as the rest of one") {
    virtual_time time;
    const auto fails = weir::pipe([](int n) {
        if (n == 3) throw std::runtime_error("bad");
        return n;
    });
    const auto number = weir::pipe([](const weir::draw& d) { return static_cast<int>(d.position); });
    const auto parts = weir::source(weir::draws(weir::sampler({.size = 4, .shuffle = false}), 1)) | number |
                       route([](int n) { return n / 3; }, branch("good"), branch("bad", fails));
    auto run = (parts | weir::sink()).start(time);
    for (int n = 0; n < 3; ++n) CHECK(run.get_in_epoch() == n);
    CHECK_THROWS_AS(run.get_in_epoch(), weir::pipeline_failure);

    auto batches = (parts | weir::aggregate(4, true) | weir::sink()).start(time);
    CHECK_THROWS_AS(batches.get(), weir::pipeline_failure);
    CHECK(batches.checkpoint().watermark() == 0);
    CHECK(batches.checkpoint().ahead().empty());
}

TEST_CASE("a failure in a branch ends a router that waits for room in another, and all that is behind it") {
    const auto fails = weir::pipe(
        [](int n) -> task<int> {
            co_await weir::sleep_for(5ms);
            if (n >= 3) throw std::runtime_error("bad");
            co_return n;
        },
        {.name = "fails"});
    for (const bool endless : {false, true}) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            virtual_time time(seed);
            // The second branch takes an hour: the router waits for room in it.
            auto run = (weir::source(std::views::iota(0, endless ? 1'000'000'000 : 50)) |
                        route(parity, branch("slow", takes(1h)), branch("bad", fails)) | weir::sink())
                           .start(time);
            const auto end = take_until_failure(run);
            REQUIRE(end.failed);
            CHECK(end.failed->stage() == "fails");
            CHECK(ints(end.taken.begin(), end.taken.begin() + 1) == ints{1});
            CHECK(time.now() < weir::time_point(5h));
        }
    }
}

TEST_CASE("a failure in a branch delivers what was finished in all of them") {
    virtual_time time;
    const auto fails = weir::pipe([](int n) {
        if (n == 5) throw std::runtime_error("five");
        return n;
    });
    const auto end = take_until_failure(
        (numbers(0, 100) | route(parity, branch("even"), branch("odd", takes(1s) | fails)) | weir::sink(50))
            .start(time));
    REQUIRE(end.failed);
    for (const int n : {0, 1, 2, 3, 4}) CHECK(std::ranges::find(end.taken, n) != end.taken.end());
    CHECK(std::ranges::find(end.taken, 5) == end.taken.end());
}

TEST_CASE("a failure in a branch delivers what was finished in another, also what waits for room behind it") {
    virtual_time time;
    int finished = 0;
    const auto counts = weir::pipe(
        [&finished](int n) {
            ++finished;
            return n;
        },
        {.capacity = 1});
    int before = 0;
    const auto fails = weir::pipe([&](int n) -> int {
        before = finished;
        throw std::runtime_error(std::to_string(n));
    });
    auto run = (numbers(0, 100) |
                route([](int n) { return n == 0 ? 0 : 1; }, {.capacity = 1}, branch("bad", takes(1s) | fails),
                      branch("good", counts)) |
                weir::sink(1))
                   .start(time);
    weir::sync_wait(time, weir::sleep_for(2s));  // all queues are full when it fails
    const auto end = take_until_failure(run);
    REQUIRE(end.failed);
    CHECK(before > 3);
    CHECK(end.taken.size() == static_cast<std::size_t>(before));
}

TEST_CASE("a failure behind the join, or a consumer that leaves, ends routes and branches") {
    items::ledger book(20'000);
    const auto made = weir::pipe([&book](int) { return items::counted(book); });
    const auto by_number = [](const items::counted& c) { return c.number() % 3; };
    const auto same = weir::pipe([](items::counted c) { return c; }, {.concurrency = 2});
    const auto pipeline = weir::source(std::views::iota(0)) | made |
                          route(by_number, branch("a", same), branch("b"), branch("c", same | same)) |
                          weir::sink();
    {
        virtual_time time;
        auto run = pipeline.start(time);
        for (int i = 0; i < 50; ++i) CHECK(run.get().has_value());
    }
    {
        weir::thread_pool pool(2);
        auto run = pipeline.start(pool);
        for (int i = 0; i < 50; ++i) CHECK(run.get().has_value());
    }
    {
        virtual_time time;
        const auto fails = weir::pipe([](items::counted c) {
            if (c.number() % 40 == 39) throw std::runtime_error("behind");
            return c;
        });
        CHECK(take_until_failure((weir::source(std::views::iota(0)) | made |
                                  route(by_number, branch("a", same), branch("b"), branch("c", same)) |
                                  fails | weir::sink())
                                     .start(time))
                  .failed);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("a branch that ends by itself ends the route with the first item that it is sent then") {
    virtual_time time;
    const ints all = take_all((weir::source(std::views::iota(0)) |
                               route(parity, branch("even", weir::take(2)), branch("odd")) | weir::sink())
                                  .start(time));
    CHECK(std::ranges::count_if(all, [](int n) { return n % 2 == 0; }) == 2);
    CHECK(all.size() < 20);
}

TEST_CASE("a branch that ends by itself ends the route with an end of an epoch, too") {
    virtual_time time;
    int made = 0;
    const auto epoch = [&made](std::uint64_t number) {
        ++made;
        return number == 0 ? ints{0, 2, 1} : ints{};
    };
    CHECK(take_all((weir::source(weir::epochs(epoch, 1'000)) |
                    route(parity, branch("even", weir::take(1)), branch("odd")) | weir::sink())
                       .start(time)) == ints{0, 1});
    CHECK(made < 10);
}

TEST_CASE("stages inside of branches are found by name, before the start and after it") {
    virtual_time time;
    auto pipeline = numbers(0, 40) |
                    route(parity, {.name = "r"}, branch("even", takes(1s, {.name = "slow"})),
                          branch("odd", takes(1s, {.name = "other"}))) |
                    weir::sink();
    pipeline.options("slow").concurrency = 2;
    pipeline.options("slow").capacity = 5;
    auto run = pipeline.start(time);
    CHECK(run.stages() == std::vector<std::string>{"src", "r", "slow", "other", "r_join", "sink"});
    CHECK(run.stats().stages.at(2).concurrency == 2);
    run.set_concurrency("other", 4);
    run.set_concurrency("slow", 4);
    run.set_capacity("other", 3);
    run.set_capacity("even", 9);
    CHECK(take_all(run).size() == 40);
    CHECK(time.now() == weir::time_point(5s));
    CHECK(run.stats().stages.at(3).concurrency == 4);
    CHECK(flows::add_up(run.stats()));
    CHECK(contains(message_of([&] { run.set_concurrency("r", 2); }), "'r'"));
    pipeline.options("r").concurrency = 3;
    CHECK(contains(message_of([&] { static_cast<void>(pipeline.start(time)); }), "its concurrency is 1"));
}

TEST_CASE("stages inside of a route that was put into a list are found by name, too") {
    virtual_time time;
    weir::stage_list<int> list;
    list.add(route(parity, {.name = "r"}, branch("even", takes(1s, {.name = "slow"})), branch("odd")));
    auto pipeline = numbers(0, 4) | list | weir::sink();
    pipeline.options("slow").concurrency = 2;
    std::ostringstream text;
    text << pipeline;
    CHECK(text.str() == "src | r | slow[2] | sink");
    CHECK(take_all(pipeline.start(time)).size() == 4);
}

TEST_CASE("the figures say which queue leads where") {
    virtual_time time;
    auto run =
        (numbers(0, 6) |
         route(parity, {.name = "r", .capacity = 3}, branch("even", plus(10)), branch("odd")) | weir::sink())
            .start(time);
    CHECK(take_all(run).size() == 6);
    const auto stats = run.stats();
    REQUIRE(stats.stages.size() == 5);
    const auto name_of = [&stats](std::size_t i) { return stats.channels.at(i).name; };
    const auto& router = stats.stages.at(1);
    CHECK(router.kind == "route");
    CHECK(router.num_tasks == 6);
    CHECK(name_of(router.inputs.at(0)) == "src");
    CHECK(name_of(router.outputs.at(0)) == "even");
    CHECK(name_of(router.outputs.at(1)) == "odd");
    CHECK(stats.channels.at(router.outputs.at(0)).num_get == 3);
    CHECK(stats.channels.at(router.outputs.at(0)).capacity == 3);
    const auto& join = stats.stages.at(3);
    CHECK(join.kind == "join");
    CHECK(join.name == "r_join");
    REQUIRE(join.inputs.size() == 2);
    CHECK(name_of(join.inputs.at(0)) == "pipe#2");
    CHECK(name_of(join.inputs.at(1)) == "odd");
    CHECK(flows::add_up(stats));
}

TEST_CASE("what only moves is routed, and routed without statistics") {
    virtual_time time;
    const auto boxed = weir::pipe([](int n) { return std::make_unique<int>(n); });
    const auto opened = weir::pipe([](std::unique_ptr<int> p) { return *p; });
    const auto pipeline =
        numbers(0, 6) | boxed |
        route([](const std::unique_ptr<int>& p) { return *p % 2; },
              branch("even", weir::pipe([](std::unique_ptr<int> p) { return p; })), branch("odd")) |
        opened | weir::sink();
    CHECK(sorted(take_all(pipeline.start(time))) == ints{0, 1, 2, 3, 4, 5});
    CHECK(sorted(take_all(pipeline.start<weir::unmeasured>(time))) == ints{0, 1, 2, 3, 4, 5});
}

TEST_CASE("nothing is chosen while the run is paused, or paused again, or stopped meanwhile") {
    virtual_time time;
    int chosen = 0;
    const auto chooser = [&chosen](int n) {
        ++chosen;
        return n % 2;
    };
    auto run = (weir::source(std::views::iota(0)) | takes(1ms) | route(chooser, branch("a"), branch("b")) |
                weir::sink(1))
                   .start(time);
    CHECK(run.get() == 0);
    time.run_until(time.now() + 1ms / 2);
    const int before = chosen;
    run.pause();
    time.run_until(time.now() + 1s);
    CHECK(chosen == before);
    run.resume();
    run.pause();  // before anybody has noticed
    time.run_until(time.now() + 1s);
    CHECK(chosen == before);
    run.stop();
    CHECK(chosen == before);
}

TEST_CASE("hooks hear of each choice") {
    class counting : public weir::hook {
      public:
        void before(const weir::invocation& call) override {
            if (call.stage().starts_with("route")) ++begun;
        }
        void after(const weir::invocation& call, const std::exception_ptr& error) override {
            if (call.stage().starts_with("route")) (error ? bad : good) += 1;
        }
        int begun = 0, good = 0, bad = 0;
    };
    virtual_time time;
    const auto hook = std::make_shared<counting>();
    const auto chooser = [](int n) {
        if (n == 3) throw std::runtime_error("three");
        return n % 2;
    };
    CHECK(take_all((numbers(0, 6) | route(chooser, branch("a"), branch("b")) | weir::sink())
                       .start(time, {.max_failures = 1, .hooks = {hook}}))
              .size() == 5);
    CHECK(hook->begun == 6);
    CHECK(hook->good == 5);
    CHECK(hook->bad == 1);
}
