#include <weir/measure/slot.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/histogram.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

using weir::detail::slot;
using weir::detail::slot_state;
using weir::detail::slot_states;
using weir::detail::timed_slot;

namespace {

// What isn't measured takes no room.
static_assert(sizeof(slot) < 256);
static_assert(sizeof(timed_slot<false>) < sizeof(slot) + 64);
static_assert(sizeof(timed_slot<true>) < sizeof(timed_slot<false>) + 1536);

const std::string name = "decode";

std::int64_t spent(slot& s, slot_state in, std::int64_t until) {
    return s.spent_until(until)[static_cast<std::size_t>(in)];
}

std::int64_t total(slot& s, std::int64_t until) {
    const auto& all = s.spent_until(until);
    return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

}  // namespace

TEST_CASE("a slot knows its stage and its place in it") {
    weir::virtual_time clock;
    const slot s(name, 3, clock);
    CHECK(s.stage() == "decode");
    CHECK(s.number() == 3);
    CHECK(&s.clock() == &clock);
}

TEST_CASE("a slot times the same invocations with a histogram and without") {
    weir::virtual_time clock;
    const auto with = std::make_unique<timed_slot<true>>(name, 0, clock);
    timed_slot<false> without(name, 0, clock);
    std::int64_t now = 100;
    const auto both = [&](auto action) {
        action(*with);
        action(without);
    };
    both([&](slot& s) { s.begin(now); });
    for (int i = 1; i <= 1'000; ++i) {
        now += i % 10 == 0 ? 5'000 : i % 7;
        CHECK(with->meter.is_behind() == without.meter.is_behind());
        if (i % 100 == 0) {
            both([&](auto& s) { s.catch_up_failed(now); });
        } else {
            both([&](auto& s) {
                if (s.meter.count_invocation()) s.catch_up(now);
            });
        }
    }
    const weir::histogram h(with->tasks);
    const weir::histogram totals(without.tasks);
    CHECK(with->last_reading == without.last_reading);
    CHECK(h.count() > 900);
    CHECK(totals == weir::histogram::without_quantiles(h.count(), h.sum(), h.max()));
}

TEST_CASE("a slot is in one state at a time, so its states partition the time") {
    weir::virtual_time clock;
    slot s(name, 0, clock);
    s.begin(1000);
    CHECK(total(s, 1000) == 0);
    s.resumed(1010);
    CHECK(s.last_reading == 1010);
    s.enter(slot_state::await, 1030);
    s.enter(slot_state::runnable, 1060);
    s.resumed(1065);
    s.enter(slot_state::wait_put, 1070);
    s.enter(slot_state::runnable, 1080);
    s.resumed(1080);
    s.enter(slot_state::wait_get, 1081);
    s.enter(slot_state::off, 1100);
    CHECK(spent(s, slot_state::runnable, 1200) == 10 + 5 + 0);
    CHECK(spent(s, slot_state::run, 1200) == 20 + 5 + 1);
    CHECK(spent(s, slot_state::await, 1200) == 30);
    CHECK(spent(s, slot_state::wait_put, 1200) == 10);
    CHECK(spent(s, slot_state::wait_get, 1200) == 19);
    CHECK(spent(s, slot_state::off, 1200) == 100);
    CHECK(total(s, 1200) == 200);
}

TEST_CASE("a snapshot splits the open interval where it is taken") {
    weir::virtual_time clock;
    slot s(name, 0, clock);
    s.begin(0);
    s.enter(slot_state::await, 10);
    CHECK(spent(s, slot_state::await, 15) == 5);
    CHECK(spent(s, slot_state::await, 15) == 5);
    CHECK(spent(s, slot_state::await, 25) == 15);
    s.enter(slot_state::run, 30);
    CHECK(spent(s, slot_state::await, 40) == 20);
    CHECK(spent(s, slot_state::run, 40) == 10);
}

TEST_CASE("a slot knows since when it is in its state, whatever snapshots there were") {
    weir::virtual_time clock;
    slot s(name, 0, clock);
    s.begin(100);
    CHECK(s.entered() == std::pair(slot_state::runnable, std::int64_t{100}));
    s.enter(slot_state::wait_put, 120);
    CHECK(spent(s, slot_state::wait_put, 150) == 30);
    CHECK(s.entered() == std::pair(slot_state::wait_put, std::int64_t{120}));
    s.enter(slot_state::wait_get, 140);  // before the snapshot, and so at it
    CHECK(s.entered() == std::pair(slot_state::wait_get, std::int64_t{150}));
}

TEST_CASE("a transition from before the last snapshot counts as at the snapshot") {
    weir::virtual_time clock;
    slot s(name, 0, clock);
    s.begin(0);
    CHECK(total(s, 100) == 100);
    s.enter(slot_state::run, 90);
    CHECK(s.last_transition() == 100);
    CHECK(spent(s, slot_state::runnable, 110) == 100);
    CHECK(spent(s, slot_state::run, 110) == 10);
    CHECK(total(s, 105) == 110);  // nor does a reader go back
}

TEST_CASE("readers of other threads see every nanosecond once, whenever they look") {
    weir::virtual_time clock;
    slot s(name, 0, clock);
    s.begin(0);
    std::atomic<bool> done{false};
    std::atomic<bool> wrong{false};
    std::atomic<std::int64_t> instant{0};
    std::thread reader([&] {
        std::array<std::int64_t, slot_states> before{};
        while (!done) {
            s.lock();
            const std::int64_t now = std::max(instant.load(), s.last_transition());
            const auto now_spent = s.spent_until(now);
            s.unlock();
            std::int64_t sum = 0;
            for (std::size_t i = 0; i < slot_states; ++i) {
                if (now_spent[i] < before[i]) wrong = true;
                sum += now_spent[i];
            }
            if (sum != now) wrong = true;
            before = now_spent;
        }
    });
    for (std::int64_t t = 1; t <= 50'000; ++t) {
        instant = t;
        s.enter(static_cast<slot_state>(t % static_cast<std::int64_t>(slot_states)), t - t % 3);
    }
    done = true;
    reader.join();
    CHECK_FALSE(wrong);
    CHECK(total(s, 50'000) == 50'000);
}

TEST_CASE("a slot's times stop at the longest there is, and none is negative, wherever the clock is set to") {
    weir::virtual_time clock;
    const auto s = std::make_unique<timed_slot<true>>(name, 0, clock);
    s->begin(INT64_MIN);
    s->resumed(1);
    static_cast<void>(s->meter.count_invocation());
    s->catch_up(INT64_MAX);
    s->enter(slot_state::runnable, INT64_MAX);
    s->resumed(5);  // set back
    static_cast<void>(s->meter.count_invocation());
    s->catch_up(3);
    static_cast<void>(s->meter.count_invocation());
    s->catch_up_failed(2);
    CHECK(spent(*s, slot_state::runnable, 2) == INT64_MAX);
    CHECK(spent(*s, slot_state::run, 2) == INT64_MAX - 1);
    const weir::histogram h(s->tasks);
    CHECK(h.count() == 3);
    CHECK(h.max().count() == INT64_MAX - 1);
    CHECK(h.quantile(0.01).count() == 0);
}

namespace {

using weir::detail::recorder;
using weir::detail::stopwatch;

// Invocations of `ns` each, read whenever the watch asks; what a stage does. Returns how many readings.
int run(stopwatch& watch, recorder& times, int invocations, std::int64_t ns) {
    std::int64_t spent = 0;
    int readings = 0;
    for (int i = 0; i < invocations; ++i) {
        spent += ns;
        if (!watch.count_invocation()) continue;
        watch.read(spent, times);
        spent = 0;
        ++readings;
    }
    if (watch.is_behind()) watch.read(spent, times);
    return readings;
}

}  // namespace

TEST_CASE("long invocations are timed one by one, exactly") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    CHECK(run(watch, *times, 100, 50'000) == 100);
    const weir::histogram h(*times);
    CHECK(h.count() == 100);
    CHECK(h.sum().count() == 100 * 50'000);
    CHECK(h.max().count() == 50'000);
}

TEST_CASE("short invocations share a reading, and the sum and the count stay exact") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    CHECK(run(watch, *times, 10'000, 7) < 1'000);
    const weir::histogram h(*times);
    CHECK(h.count() == 10'000);
    CHECK(h.sum().count() == 70'000);
    CHECK(h.max().count() == 7);
}

TEST_CASE("a sum that the count doesn't divide is not rounded") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 100, 10);
    while (!watch.count_invocation()) {
    }
    watch.read(163, *times);
    CHECK(times->sum() == 1'000 + 163);
}

TEST_CASE("one long invocation among short ones is timed separately") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 10);
    std::int64_t spent = 1'000'000;  // the first of those that share a reading
    bool due = watch.count_invocation();
    for (; !due; due = watch.count_invocation()) spent += 10;
    watch.read(spent, *times);
    const weir::histogram h(*times);
    CHECK(h.max().count() == 1'000'000);
    CHECK(h.quantile(0.99).count() == 10);
    // What follows is looked at one by one again.
    CHECK(watch.count_invocation());
}

TEST_CASE("a stopwatch that times each invocation reads the clock for each") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch(true);
    for (int i = 0; i < 100; ++i) {
        REQUIRE(watch.count_invocation());
        watch.read(i % 2, *times);
    }
    CHECK(times->sum() == 50);
    CHECK(times->in_bucket(0) == 50);
}

TEST_CASE("a failure's time is not among the times; those that shared its reading keep theirs") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 10);
    const std::uint64_t before = times->sum();
    REQUIRE_FALSE(watch.count_invocation());
    REQUIRE_FALSE(watch.count_invocation());
    CHECK(watch.read_failure(20 + 5'000, *times) == 5'000);
    CHECK(times->sum() == before + 20);
    CHECK(weir::histogram(*times).count() == 1'002);
    CHECK_FALSE(watch.is_behind());
}

TEST_CASE("time outside of invocations needs no reading of its own") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    CHECK_FALSE(watch.is_behind());
    watch.record_other_work();
    CHECK(watch.is_behind());
    watch.read(500, *times);
    CHECK_FALSE(watch.is_behind());
    CHECK(weir::histogram(*times).count() == 0);
}

TEST_CASE("two long invocations in a row are both told from the short ones") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 10);
    for (int i = 0; i < 2; ++i) {
        std::int64_t spent = 12'000;  // of all that share a reading that is less than a microsecond each
        for (bool due = watch.count_invocation(); !due; due = watch.count_invocation()) spent += 10;
        watch.read(spent, *times);
    }
    const weir::histogram h(*times);
    CHECK(h.max().count() == 12'000);
    // The second one was looked at alone.
    CHECK(h.count() == 1'000 + 16 + 1);
    CHECK(h.sum().count() == 10'000 + 12'000 + 15 * 10 + 12'000);
}

TEST_CASE("the number of invocations that share a reading at most doubles, up to sixteen") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    for (const int shared : {1, 2, 4, 8, 16, 16}) {
        int n = 1;
        while (!watch.count_invocation()) ++n;
        CHECK(n == shared);
        watch.read(n, *times);
    }
    // As many as fit into 8 us, going by the last ones.
    for (const auto& [shared, ns] : {std::pair(16, 400), std::pair(16, 1'000), std::pair(7, 1'000)}) {
        int n = 1;
        while (!watch.count_invocation()) ++n;
        CHECK(n == shared);
        watch.read(n * ns, *times);
    }
}

TEST_CASE("a clock that was set, back or ahead as far as it goes, leaves times that can be") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch(true);
    for (const std::int64_t spent : {std::int64_t{-1}, INT64_MIN, INT64_MAX, std::int64_t{10}}) {
        REQUIRE(watch.count_invocation());
        watch.read(spent, *times);
    }
    CHECK(weir::histogram(*times).count() == 4);
    CHECK(times->max() == INT64_MAX);
    CHECK(times->in_bucket(0) == 2);
}

TEST_CASE("as many invocations share a reading as fit into 8 us, at most 16") {
    constexpr std::int64_t takes[] = {
        0, 1, 498, 499, 500, 501, 999, 2'000, 7'998, 7'999, 8'000, 5'000'000'000, INT64_MAX / 1'000};
    for (const std::int64_t ns : takes) {
        const auto times = std::make_unique<recorder>();
        stopwatch watch;
        run(watch, *times, 64, ns);  // it knows them
        const std::int64_t fit = 8'000 / (ns + 1);
        const std::int64_t each = fit < 1 ? 1 : fit > 16 ? 16 : fit;
        CHECK(run(watch, *times, static_cast<int>(10 * each), ns) == 10);
    }
}

TEST_CASE("several that took more than fits into 32 bits are not taken for short ones") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 64, 10);
    for (int i = 0; i < 15; ++i) CHECK_FALSE(watch.count_invocation());
    CHECK(watch.count_invocation());
    watch.read(UINT32_MAX + std::int64_t{161}, *times);
    CHECK(watch.count_invocation());  // it is timed alone
}

TEST_CASE("between readings it tells how long ago the last one was, by how long invocations usually take") {
    const auto times = std::make_unique<recorder>();
    stopwatch watch;
    run(watch, *times, 1'000, 20);
    CHECK(watch.can_estimate());
    CHECK(watch.estimate() == 0);
    REQUIRE_FALSE(watch.count_invocation());
    REQUIRE_FALSE(watch.count_invocation());
    CHECK(watch.estimate() == 40);
    watch.record_other_work();
    CHECK_FALSE(watch.can_estimate());
    watch.read(100, *times);
    CHECK(watch.can_estimate());
    CHECK(watch.estimate() == 0);
}
