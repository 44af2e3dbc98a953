#include <weir/executor/virtual_clock.hpp>

#include "support/catch.hpp"

#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>

#include <coroutine>
#include <vector>

using weir::time_point;
using weir::timer;
using weir::timer_order;
using weir::detail::virtual_clock;

namespace {

time_point at(int ns) { return time_point(weir::duration(ns)); }

struct scene {
    virtual_clock clock;
    std::vector<std::coroutine_handle<>> ready;

    bool advance(time_point limit = time_point::max()) {
        return clock.advance(limit, [this](std::coroutine_handle<> h) { ready.push_back(h); });
    }
};

timer a_timer(int ns, timer_order order = timer_order::normal) {
    return timer(at(ns), std::noop_coroutine(), order);
}

}  // namespace

TEST_CASE("the clock goes to the earliest timer, and gives all of that instant") {
    scene s;
    timer late = a_timer(7), one = a_timer(5), other = a_timer(5);
    for (timer* t : {&late, &one, &other}) CHECK(s.clock.add(*t));
    CHECK(s.advance());
    CHECK(s.clock.now() == at(5));
    CHECK(s.ready.size() == 2);
    CHECK(s.advance());
    CHECK(s.clock.now() == at(7));
    CHECK(s.ready.size() == 3);
    CHECK_FALSE(s.advance());
}

TEST_CASE("what is due at the limit has not happened yet") {
    scene s;
    timer t = a_timer(5);
    CHECK(s.clock.add(t));
    CHECK_FALSE(s.advance(at(5)));
    CHECK(s.clock.now() == at(0));
    CHECK(s.advance(at(6)));
}

TEST_CASE("those that go before all others of an instant go alone") {
    scene s;
    timer normal = a_timer(5), first = a_timer(5, timer_order::before_all);
    CHECK(s.clock.add(normal));
    CHECK(s.clock.add(first));
    CHECK(s.advance());
    CHECK(s.ready.size() == 1);
    CHECK(s.advance());
    CHECK(s.ready.size() == 2);
}

TEST_CASE("a mere watcher keeps no time going") {
    scene s;
    timer watcher = a_timer(5, timer_order::before_all), work = a_timer(3);
    CHECK(s.clock.add(watcher));
    CHECK_FALSE(s.advance());
    CHECK(s.clock.add(work));
    CHECK(s.clock.cancel(work));
    CHECK_FALSE(s.advance());
    CHECK(s.advance(at(100)));  // unless somebody waits for an instant
    CHECK(s.clock.now() == at(5));
}
