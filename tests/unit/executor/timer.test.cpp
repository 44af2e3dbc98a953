#include <weir/executor/timer.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;
using weir::time_point;
using weir::timer;
using weir::timer_order;
using weir::timer_queue;

static_assert(!std::is_copy_constructible_v<timer>);
static_assert(!std::is_copy_constructible_v<timer_queue>);

namespace {

time_point at(weir::duration d) { return time_point(d); }
const std::coroutine_handle<> nobody;

std::vector<const timer*> drain(timer_queue& q, time_point now) {
    std::vector<const timer*> order;
    while (const timer* const t = q.pop_due(now)) order.push_back(t);
    return order;
}

}  // namespace

TEST_CASE("an empty timer queue has nothing due") {
    timer_queue q;
    CHECK(q.empty());
    CHECK(q.next() == nullptr);
    CHECK(q.pop_due(time_point::max()) == nullptr);
}

TEST_CASE("a timer is due at its deadline and not a nanosecond before") {
    timer_queue q;
    timer t(at(5ns), nobody);
    REQUIRE(q.add(t));
    CHECK(q.next() == &t);
    CHECK(q.pop_due(at(4ns)) == nullptr);
    CHECK(q.pop_due(at(5ns)) == &t);
    CHECK(t.fired() == at(5ns));
    CHECK_FALSE(t.cancelled());
    CHECK(q.empty());
}

TEST_CASE("timers of one instant go by order, then by when they were added") {
    timer_queue q;
    timer a(at(1ns), nobody), b(at(1ns), nobody), first(at(1ns), nobody, timer_order::before_all),
        second(at(1ns), nobody, timer_order::before_all), earlier(at(0ns), nobody);
    for (timer* const t : {&a, &first, &b, &second, &earlier}) REQUIRE(q.add(*t));
    CHECK(drain(q, at(1ns)) == std::vector<const timer*>{&earlier, &first, &second, &a, &b});
}

TEST_CASE("a cancelled timer is marked and comes no more") {
    timer_queue q;
    timer a(at(1ns), nobody), b(at(2ns), nobody), c(at(3ns), nobody);
    for (timer* const t : {&a, &b, &c}) REQUIRE(q.add(*t));
    SECTION("the first") {
        CHECK(q.cancel(a, at(0ns)));
        CHECK(a.cancelled());
        CHECK(a.fired() == at(0ns));
        CHECK(drain(q, at(9ns)) == std::vector<const timer*>{&b, &c});
    }
    SECTION("one in the middle, once only") {
        CHECK(q.cancel(b, at(0ns)));
        CHECK_FALSE(q.cancel(b, at(1ns)));
        CHECK(b.fired() == at(0ns));
        CHECK(drain(q, at(9ns)) == std::vector<const timer*>{&a, &c});
    }
    SECTION("one that has fired stays as it is") {
        REQUIRE(q.pop_due(at(1ns)) == &a);
        CHECK_FALSE(q.cancel(a, at(2ns)));
        CHECK_FALSE(a.cancelled());
        CHECK(a.fired() == at(1ns));
        CHECK(drain(q, at(9ns)) == std::vector<const timer*>{&b, &c});
    }
    SECTION("all of them") {
        for (timer* const t : {&c, &a, &b}) CHECK(q.cancel(*t, at(0ns)));
        CHECK(q.empty());
    }
}

TEST_CASE("a timer that is cancelled before it is added is refused") {
    timer_queue q;
    timer t(at(1ns), nobody);
    CHECK_FALSE(q.cancel(t, at(0ns)));
    CHECK_FALSE(q.add(t));
    CHECK(t.cancelled());
    CHECK(q.empty());
}

TEST_CASE("a hundred thousand timers added in order, or in reverse, come out in order") {
    constexpr int n = 100'000;
    timer_queue q;
    std::deque<timer> timers;
    for (int i = 0; i < n; ++i) timers.emplace_back(at(weir::duration(i)), nobody);
    bool added = true;
    SECTION("in order") {
        for (auto& t : timers) added = q.add(t) && added;
    }
    SECTION("in reverse") {
        for (auto t = timers.rbegin(); t != timers.rend(); ++t) added = q.add(*t) && added;
    }
    REQUIRE(added);
    const std::vector<const timer*> order = drain(q, at(weir::duration(n)));
    REQUIRE(order.size() == timers.size());
    bool ascending = true;
    for (std::size_t i = 0; i < order.size(); ++i) ascending = ascending && order[i] == &timers[i];
    CHECK(ascending);
}

TEST_CASE("random adding, cancelling and firing agrees with a sorted list") {
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round) {
        CAPTURE(round);
        timer_queue q;
        std::deque<timer> timers;
        std::vector<timer*> expected;  // in the order in which they were added
        std::int64_t clock = 0;
        bool right = true;
        for (int step = 0; step < 400; ++step) {
            const unsigned what = static_cast<unsigned>(random() % 10);
            if (what < 5) {
                timers.emplace_back(at(weir::duration(clock + static_cast<int>(random() % 50))), nobody);
                right = q.add(timers.back()) && right;
                expected.push_back(&timers.back());
            } else if (what < 7 && !expected.empty()) {
                const auto victim =
                    expected.begin() + static_cast<std::ptrdiff_t>(random() % expected.size());
                right = q.cancel(**victim, at(weir::duration(clock))) && right;
                expected.erase(victim);
            } else {
                clock += static_cast<int>(random() % 20);
                std::vector<const timer*> due;
                for (;;) {
                    auto best = expected.end();
                    for (auto i = expected.begin(); i != expected.end(); ++i) {
                        if (best == expected.end() || (*i)->deadline() < (*best)->deadline()) best = i;
                    }
                    if (best == expected.end() || (*best)->deadline() > at(weir::duration(clock))) break;
                    due.push_back(*best);
                    expected.erase(best);
                }
                right = drain(q, at(weir::duration(clock))) == due && right;
            }
        }
        REQUIRE(right);
    }
}
