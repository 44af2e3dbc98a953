#include <weir/simulation/explore_pipeline.hpp>

#include "support/catch.hpp"

#include <weir/stages/aggregate.hpp>
#include <weir/stages/for_each.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <ranges>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sim = weir::simulation;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using ints = std::vector<int>;

TEST_CASE("what comes out of a pipeline is checked under each schedule, and so are its figures") {
    const auto slow = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(weir::duration(n % 3));
        co_return n * 10;
    };
    std::set<ints> orders;
    const auto done =
        sim::explore(weir::source(std::views::iota(0, 6)) | weir::pipe(slow, {.concurrency = 3}) |
                         weir::sink(),
                     [&](ints all) {
                         orders.insert(all);
                         std::ranges::sort(all);
                         sim::world::check(all == ints{0, 10, 20, 30, 40, 50}, "each item comes once");
                     },
                     {.schedules = 300});
    CHECK(done.schedules == 300);
    CHECK(orders.size() > 1);
}

TEST_CASE("a check that fails under some schedule shows that schedule") {
    const auto pipeline = weir::source(std::views::iota(0, 6)) |
                          weir::pipe([](int n) { return n; }, {.concurrency = 2}) | weir::sink();
    CHECK_THROWS_WITH(sim::explore(pipeline,
                                   [](const ints& all) {
                                       sim::world::check(std::ranges::is_sorted(all),
                                                         "they keep their order");
                                   }),
                      ContainsSubstring("they keep their order") && ContainsSubstring("WEIR_SCHEDULE="));
}

TEST_CASE("items that only move are given to the check") {
    const auto boxed = weir::pipe([](int n) { return std::make_unique<int>(n); });
    sim::explore(weir::source(std::views::iota(0, 3)) | boxed | weir::sink(),
                 [](std::vector<std::unique_ptr<int>> all) { sim::world::check(all.size() == 3, "three"); },
                 {.schedules = 10});
}

TEST_CASE("a pipeline that fails is a schedule that fails, and says where and why") {
    const auto broken =
        weir::pipe([](int n) { return n < 2 ? n : throw std::runtime_error("no more"); }, {.name = "broken"});
    CHECK_THROWS_WITH(sim::explore(weir::source(std::views::iota(0, 3)) | broken | weir::sink(),
                                   [](const ints&) {}),
                      ContainsSubstring("'broken'") && ContainsSubstring("no more"));
}

TEST_CASE("what a pipeline does that ends with a for_each is checked under each schedule") {
    std::set<ints> orders;
    ints seen;
    const auto write = [&seen](int n) -> weir::task<> {
        if (n == 0) seen.clear();
        co_await weir::sleep_for(weir::duration(n % 3));
        seen.push_back(n);
    };
    const auto done =
        sim::explore(weir::source(std::views::iota(0, 6)) | weir::for_each(write, {.concurrency = 3}),
                     [&](const weir::run_result& all) {
                         sim::world::check(all.items == 6 && seen.size() == 6, "all are written");
                         orders.insert(seen);
                     },
                     {.schedules = 300});
    CHECK(done.schedules == 300);
    CHECK(orders.size() > 1);
}
