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
static_assert(sizeof(slot) <= 264);
static_assert(sizeof(timed_slot<false>) < sizeof(slot) + 80);
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
    CHECK(s.state_since() == s.entered());
    s.enter(slot_state::wait_get, 140);  // before the snapshot, and so at it
    CHECK(s.entered() == std::pair(slot_state::wait_get, std::int64_t{150}));
}

TEST_CASE("a transition from before the last snapshot counts as at the snapshot") {
    weir::virtual_time clock;
    slot s(name, 0, clock);
    s.begin(0);
    CHECK(total(s, 100) == 100);
    s.enter(slot_state::run, 90);
    CHECK(s.counted_until() == 100);
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
            const std::int64_t now = std::max(instant.load(), s.counted_until());
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
