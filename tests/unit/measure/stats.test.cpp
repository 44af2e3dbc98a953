#include <weir/measure/stats.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>

using weir::channel_stats;
using weir::duration;
using weir::pipeline_stats;
using weir::slot_times;
using weir::stage_stats;
using namespace std::chrono_literals;

static_assert(std::is_nothrow_move_constructible_v<pipeline_stats>);
static_assert(std::is_copy_assignable_v<pipeline_stats>);
static_assert(slot_times{}.total() == duration(0));

namespace {

channel_stats channel_at(int n) {
    channel_stats c;
    c.name = "c";
    c.size = static_cast<std::size_t>(n);
    c.capacity = 10 + c.size;
    c.elapsed = n * 100s;
    c.num_put = static_cast<std::uint64_t>(7 * n);
    c.num_get = static_cast<std::uint64_t>(5 * n);
    c.put_wait = n * 70ms;
    c.get_wait = n * 50ms;
    c.put_blocked = n * 7ms;
    c.get_blocked = n * 5ms;
    c.empty = n * 25s;
    c.put_waits.record(10ms, c.num_put);
    c.get_waits.record(10ms, c.num_get);
    return c;
}

slot_times slot_at(int n) {
    slot_times t;
    t.off = n * 1s;
    t.wait_get = n * 2s;
    t.runnable = n * 3s;
    t.run = n * 4s;
    t.await = n * 5s;
    t.wait_put = n * 6s;
    return t;
}

stage_stats stage_at(int n) {
    stage_stats s;
    s.name = "s";
    s.kind = "pipe";
    s.concurrency = static_cast<std::size_t>(n);
    s.elapsed = n * 21s;
    s.num_tasks = static_cast<std::uint64_t>(10 * n);
    s.num_failures = static_cast<std::uint64_t>(2 * n);
    s.task_time = n * 8s;
    s.failure_time = n * 1s;
    s.busy = n * 9s;
    s.per_slot = {slot_at(n), slot_at(n)};
    s.task_times.record(1s, static_cast<std::uint64_t>(8 * n));
    return s;
}

pipeline_stats pipeline_at(int n) {
    pipeline_stats p;
    p.elapsed = n * 100s;
    p.stages = {stage_at(n), stage_at(n)};
    p.channels = {channel_at(n), channel_at(n)};
    return p;
}

}  // namespace

TEST_CASE("statistics begin at 0, and what is derived from nothing is 0") {
    const channel_stats c;
    CHECK(c == channel_stats());
    CHECK(c.readiness() == 0);
    CHECK(c.ave_put_wait() == 0ns);
    CHECK(c.ave_get_wait() == 0ns);
    CHECK(c.ave_get_gap() == 0ns);
    CHECK(c.rate() == 0);
    const stage_stats s;
    CHECK(s.times() == slot_times());
    CHECK(s.ave_time() == 0ns);
    CHECK(s.rate() == 0);
    CHECK(pipeline_stats().elapsed == 0ns);
    CHECK(pipeline_stats() - pipeline_stats() == pipeline_stats());
    pipeline_stats before;
    pipeline_stats after;
    after.process.emplace().bytes_read = 7U;
    CHECK((after - before).process == after.process);
    before.process.emplace().bytes_read = 3U;
    CHECK((after - before).process->bytes_read == 4U);
}

TEST_CASE("a channel's averages are over its operations") {
    const channel_stats c = channel_at(1);
    CHECK(c.readiness() == 0.75);
    CHECK(c.ave_put_wait() == 10ms);
    CHECK(c.ave_get_wait() == 10ms);
    CHECK(c.ave_get_gap() == 1ms);
    CHECK(c.rate() == 0.05);
}

TEST_CASE("data readiness stays between 0 and 1") {
    channel_stats c;
    c.elapsed = 10s;
    CHECK(c.readiness() == 1);
    c.empty = 10s;
    CHECK(c.readiness() == 0);
    c.empty = 11s;
    CHECK(c.readiness() == 0);
}

TEST_CASE("a slot's states sum to its time, its work to its busy time") {
    const slot_times t = slot_at(1);
    CHECK(t.total() == 21s);
    CHECK(t.busy() == 9s);
    CHECK(t + t == slot_at(2));
    CHECK(slot_at(3) - t == slot_at(2));
    CHECK(t - slot_at(3) == slot_times());
}

TEST_CASE("a stage's average time is over its successes") {
    const stage_stats s = stage_at(1);
    CHECK(s.ave_time() == 1s);
    CHECK(s.times() == slot_at(2));
    CHECK(s.rate() == Approx(10.0 / 21));
    stage_stats all_failed = s;
    all_failed.num_failures = all_failed.num_tasks;
    CHECK(all_failed.ave_time() == 0ns);
}

TEST_CASE("a lap is the difference of two snapshots") {
    const pipeline_stats lap = pipeline_at(3) - pipeline_at(1);
    CHECK(lap.elapsed == 200s);
    REQUIRE(lap.stages.size() == 2);
    REQUIRE(lap.channels.size() == 2);
    for (const stage_stats& s : lap.stages) {
        stage_stats expected = stage_at(2);
        expected.concurrency = 3;  // what is, not what was added
        CHECK(s == expected);
    }
    for (const channel_stats& c : lap.channels) {
        channel_stats expected = channel_at(2);
        expected.size = 3;
        expected.capacity = 13;
        CHECK(c == expected);
    }
}

TEST_CASE("a lap stands still for as long as its end does, also from before its begin") {
    pipeline_stats before = pipeline_at(1);
    pipeline_stats after = pipeline_at(2);
    before.idle = 40s;
    after.idle = 140s;
    CHECK((after - before).idle == 140s);
    CHECK((before - after).idle == 40s);
}

TEST_CASE("a rate since the first item is of those behind it, by the time from it on") {
    pipeline_stats s;
    CHECK(s.rate() == 0);
    s.elapsed = 20s;
    s.num_items = 11;
    s.first_item = {.after = 15s, .since = 5s, .num_items = 10};
    CHECK(s.rate() == 0.55);
    CHECK(s.first_item->rate() == 2);
    CHECK(weir::first_item_stats{.after = 15s}.rate() == 0);
}

TEST_CASE("a lap has its part of the time and of the items since the first one, which came when it came") {
    pipeline_stats none;
    none.elapsed = 10s;
    pipeline_stats first;
    first.elapsed = 20s;
    first.num_items = 11;
    first.first_item = {.after = 15s, .since = 5s, .num_items = 10};
    pipeline_stats later;
    later.elapsed = 22s;
    later.num_items = 12;
    later.first_item = {.after = 15s, .since = 7s, .num_items = 11};

    CHECK_FALSE((none - none).first_item);
    const pipeline_stats with = first - none;  // in which it came: it is one of 11, and no part of the rate
    CHECK(with.num_items == 11);
    CHECK(with.rate() == 1.1);
    CHECK(with.first_item == first.first_item);
    const pipeline_stats behind = later - first;
    CHECK(behind.num_items == 1);
    CHECK(behind.first_item == weir::first_item_stats{.after = 15s, .since = 2s, .num_items = 1});
    CHECK(behind.first_item->rate() == behind.rate());
    CHECK((first - later).num_items == 0);
    CHECK((first - later).first_item == weir::first_item_stats{.after = 15s});
}

TEST_CASE("a lap of a channel that is empty all the time has no data readiness and a lap of waiting") {
    // Both snapshots include the interval that is open: that is what the lap is made of.
    channel_stats before;
    before.elapsed = 10s;
    before.empty = 4s;
    before.get_blocked = before.get_wait = 4s;
    channel_stats after = before;
    after.elapsed += 1s;
    after.empty += 1s;
    after.get_blocked += 1s;
    after.get_wait += 3s;  // by three slots
    const channel_stats lap = after - before;
    CHECK(lap.readiness() == 0);
    CHECK(lap.get_blocked == lap.elapsed);
    CHECK(lap.get_wait == 3 * lap.elapsed);
}

TEST_CASE("a lap never holds anything negative") {
    pipeline_stats lap = pipeline_at(1) - pipeline_at(3);
    for (stage_stats& s : lap.stages) {
        s.name.clear();
        s.kind.clear();
        s.per_slot.clear();
        CHECK(s == stage_stats());
    }
    for (channel_stats& c : lap.channels) {
        c.name.clear();
        c.size = c.capacity = 0;
        CHECK(c == channel_stats());
    }
    CHECK(lap.elapsed == 0ns);
}

TEST_CASE(
    "a lap takes stages and channels whole that were not there before, and new slots as off until then") {
    pipeline_stats before = pipeline_at(1);
    before.stages.pop_back();
    before.stages[0].per_slot.pop_back();
    before.channels.clear();
    const pipeline_stats lap = pipeline_at(3) - before;
    REQUIRE(lap.stages.size() == 2);
    CHECK(lap.stages[0].per_slot[0] == slot_at(2));
    slot_times late = slot_at(3);
    late.off = std::max(weir::duration(0), late.off - before.stages[0].elapsed);
    CHECK(lap.stages[0].per_slot[1] == late);
    // So that its states sum to the lap, too.
    before.stages[0].elapsed = 5s;
    pipeline_stats after = before;
    after.stages[0].elapsed = 8s;
    after.stages[0].per_slot.push_back({.off = 6s, .await = 2s});
    CHECK((after - before).stages[0].per_slot.back() == slot_times{.off = 1s, .await = 2s});
    CHECK(lap.stages[1] == stage_at(3));
    CHECK(lap.channels == pipeline_at(3).channels);
    CHECK((before - pipeline_at(1)).stages.size() == 1);
}
