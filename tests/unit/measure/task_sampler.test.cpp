#include <weir/measure/task_sampler.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using weir::task_sample;
using weir::task_samples;
using weir::detail::slot_sampler;
using weir::detail::slot_state;
using weir::detail::task_sampler;

namespace {

// The numbers of the invocations, of so many, that a sampler keeps. Number i ends at i ns.
task_samples sampled(std::size_t most, std::uint64_t seed, std::uint64_t invocations) {
    task_sampler sampler(most, seed);
    std::uint64_t left = 0;
    for (std::uint64_t i = 0; i < invocations; ++i) {
        if (left != 0) {
            --left;
        } else {
            left = sampler.keep({}, static_cast<std::int64_t>(i));
        }
    }
    return sampler.samples();
}

}  // namespace

TEST_CASE("a sampler keeps all invocations, if they are no more than its limit") {
    const task_samples all = sampled(10, 1, 10);
    CHECK(all.one_in == 1);
    REQUIRE(all.tasks.size() == 10);
    for (std::int64_t i = 0; i < 10; ++i) CHECK(all.tasks[static_cast<std::size_t>(i)].at.count() == i);
}

TEST_CASE(
    "a sampler keeps at most as many invocations as its limit, in their order, and at least half of that") {
    for (const std::uint64_t n : {10U, 11U, 100U, 1'000U, 123'456U}) {
        const task_samples all = sampled(9, 7, n);
        CAPTURE(n, all.one_in);
        CHECK(all.tasks.size() >= 4);  // one stratum may have its invocation still to come
        CHECK(all.tasks.size() < 10);
        CHECK(std::ranges::is_sorted(all.tasks, {}, &task_sample::at));
        CHECK(all.one_in * all.tasks.size() >= n - all.one_in);
        CHECK(all.one_in * (all.tasks.size() - 1) <= n);
    }
    CHECK(sampled(1, 1, 100).tasks.size() < 2);
    CHECK(sampled(1, 1, 100).one_in == 128);
}

TEST_CASE("a sample larger than any memory is refused with a sentence") {
    CHECK_THROWS_AS(weir::detail::task_sampler(SIZE_MAX / 2, 0), std::bad_alloc);
    constexpr std::size_t addressable = PTRDIFF_MAX / sizeof(task_sample) - 2;
    for (const std::size_t most : {SIZE_MAX / 2, addressable}) {
        CHECK_THROWS_WITH(weir::detail::task_sampler(most, 0),
                          "weir: no memory for a recording of " + std::to_string(most) +
                              " invocations; 1000 are enough for predictions");
    }
    CHECK_THROWS_WITH(weir::detail::task_sampler(SIZE_MAX / 8, 0, SIZE_MAX / 2),
                      "weir: no memory for a recording of " + std::to_string(SIZE_MAX / 2) +
                          " invocations; 1000 are enough for predictions");
}

TEST_CASE("each invocation has the same chance to be in the sample") {
    constexpr std::uint64_t invocations = 100;
    constexpr std::uint64_t runs = 8'000;
    std::array<double, invocations> kept{};
    std::uint64_t one_in = 0;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        const task_samples all = sampled(19, weir::detail::subseed(seed, 1), invocations);
        for (const task_sample& each : all.tasks) kept[static_cast<std::size_t>(each.at.count())] += 1;
        one_in = all.one_in;
    }
    REQUIRE(one_in == 8);
    const double expected = static_cast<double>(runs) / static_cast<double>(one_in);
    for (const double each : kept) CHECK(each == Catch::Approx(expected).epsilon(0.15));  // 5 deviations
}

TEST_CASE("the instants of a sample begin at the beginning of the run") {
    task_sampler sampler(4, 1);
    sampler.begin(1'000);
    static_cast<void>(sampler.keep({}, 1'500));
    CHECK(sampler.samples().tasks.at(0).at == 500ns);
}

namespace {

const std::string name = "decode";

}  // namespace

TEST_CASE("an invocation of the sample has the times that its slot spent, and its results") {
    weir::virtual_time clock;
    weir::detail::timed_slot<true> me(name, 0, clock);
    me.begin(0);
    me.resumed(50);
    slot_sampler sampler(4, 1);
    std::uint64_t between = 99;
    sampler.begin_task(me);
    me.enter(slot_state::await, 60);
    me.enter(slot_state::runnable, 90);
    me.resumed(140);
    me.catch_up(145);
    sampler.end_task(me, false);
    sampler.count_result();
    sampler.count_result();
    me.enter(slot_state::wait_put, 145);
    me.resumed(400);
    CHECK(sampler.end_item(me, between));
    CHECK(between == 0);
    CHECK(sampler.samples().tasks.at(0) == task_sample{400ns, 15ns, 30ns, 50ns, 1, 2, false});
    CHECK_FALSE(sampler.end_item(me, between));  // none has begun
}

TEST_CASE("an invocation that does not count is not in the sample; one that fails is") {
    weir::virtual_time clock;
    weir::detail::timed_slot<true> me(name, 0, clock);
    me.begin(0);
    me.resumed(0);
    slot_sampler sampler(4, 1);
    std::uint64_t between = 99;
    sampler.begin_task(me);
    CHECK_FALSE(sampler.end_item(me, between));
    sampler.begin_task(me);
    me.catch_up(5);
    sampler.end_task(me, true);
    CHECK(sampler.end_item(me, between));
    CHECK(sampler.samples().tasks.at(0) == task_sample{5ns, 5ns, 0ns, 0ns, 1, 0, true});
}

TEST_CASE("a sample of batches has the number of items in each") {
    slot_sampler sampler(100, 1);
    sampler.sample_batches();
    CHECK(sampler.is_of_batches());
    const auto take = [&sampler](int items) {
        for (int i = 0; i < items; ++i) sampler.take_item();
    };
    take(3);
    sampler.give_batch(false, 10);
    take(5);
    sampler.give_batch(true, 20);  // without the fifth
    take(1);
    sampler.give_batch(false, 30);
    const task_samples all = sampler.samples();
    REQUIRE(all.tasks.size() == 3);
    CHECK(all.tasks[0] == task_sample{.at = 10ns, .taken = 3});
    CHECK(all.tasks[1] == task_sample{.at = 20ns, .taken = 4});
    CHECK(all.tasks[2] == task_sample{.at = 30ns, .taken = 2});
}
