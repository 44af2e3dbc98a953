#include <weir/measure/task_sample.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

using namespace std::chrono_literals;
using weir::task_sample;
using weir::task_samples;

namespace {

// Invocations that end at these instants, in milliseconds.
task_samples ending_at(const std::vector<int>& ms, std::uint64_t one_in = 1) {
    task_samples all{one_in};
    for (const int each : ms) all.tasks.push_back({.at = each * 1ms});
    return all;
}

task_samples many(int count, std::uint64_t one_in) {
    std::vector<int> ms;
    for (int i = 0; i < count; ++i) ms.push_back(i);
    return ending_at(ms, one_in);
}

}  // namespace

TEST_CASE("the sample of a lap has the invocations that ended in the lap, by the time since its beginning") {
    const task_samples all = ending_at({1, 3, 3, 5, 7}, 4);
    CHECK(weir::detail::samples_of_lap(all, std::nullopt, 3ms) == ending_at({0, 0, 2, 4}, 4));
    CHECK(weir::detail::samples_of_lap(all, std::nullopt, 0ms) == all);
    CHECK(weir::detail::samples_of_lap(all, std::nullopt, 8ms) == ending_at({}, 4));
}

TEST_CASE("an invocation that ended at the beginning of a lap is in the sample of one lap only") {
    task_samples all = ending_at({1, 3, 3, 5});
    all.tasks[1].results = 7;
    const task_samples before{1, {all.tasks[0], all.tasks[1]}};
    const task_samples lap = weir::detail::samples_of_lap(all, before, 3ms);
    CHECK(lap == ending_at({0, 2}));
    const task_samples equal = ending_at({3, 3, 3});
    CHECK(weir::detail::samples_of_lap(equal, ending_at({3, 3}), 3ms) == ending_at({0}));
}

TEST_CASE("a sample of fewer invocations has one of each group of successive ones") {
    task_samples all = many(1'000, 2);
    weir::detail::thin(all, 1);
    CHECK(all == many(1'000, 2));
    weir::detail::thin(all, 16);
    CHECK(all.one_in == 16);
    REQUIRE(all.tasks.size() == 125);
    for (std::size_t i = 0; i < all.tasks.size(); ++i) {
        CHECK(all.tasks[i].at / 1ms / 8 == static_cast<std::int64_t>(i));
    }
    CHECK(std::ranges::count_if(all.tasks, [](const task_sample& t) { return t.at / 1ms % 8 == 0; }) < 40);
}

TEST_CASE("samples are added so that each invocation has the same chance") {
    task_samples all = many(100, 4);
    weir::detail::add_samples(all, many(160, 1));
    CHECK(all.one_in == 4);
    CHECK(all.tasks.size() == 140);
    weir::detail::add_samples(all, many(10, 8));
    CHECK(all.one_in == 8);
    CHECK(all.tasks.size() == 80);
}

TEST_CASE("a sample that is limited is in the order of the ends") {
    task_samples all = ending_at({5, 1, 4, 2, 3, 0, 7, 6});
    weir::detail::sort_and_limit(all, 8);
    CHECK(all == many(8, 1));
    weir::detail::sort_and_limit(all, 7);
    CHECK(all.one_in == 2);
    CHECK(all.tasks.size() == 4);
    CHECK(std::ranges::is_sorted(all.tasks, {}, &task_sample::at));
}
