#include <weir/measure/slot_sampler.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>

#include <chrono>
#include <cstdint>
#include <string>

using namespace std::chrono_literals;
using weir::task_sample;
using weir::task_samples;
using weir::detail::slot_sampler;
using weir::detail::slot_state;

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
