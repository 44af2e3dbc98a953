#include <weir/executor/pool_worker.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/platform.hpp>

#include <coroutine>
#include <cstdint>

namespace {

struct pool final : weir::executor {
    using worker = weir::detail::pool_worker<pool, weir::detail::standard_platform>;
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
    void is_for_two() noexcept { ++told; }
    bool waits_outside() const noexcept { return outside; }
    static bool has_to_look(const worker&) noexcept { return true; }
    int told = 0;
    bool outside = false;
};

std::coroutine_handle<> handle(const int& at) {
    return std::coroutine_handle<>::from_address(const_cast<int*>(&at));
}

}  // namespace

TEST_CASE("a worker takes back what it forked last, unless something else comes first, and counts it") {
    const int a = 0, b = 0, other = 0;
    pool p;
    pool::worker w(p, 3);
    CHECK(w.number == 3);
    CHECK(w.are_of(&p));
    w.fork(handle(a));
    w.fork(handle(b));
    CHECK(p.told == 2);
    CHECK_FALSE(w.take_back(handle(a)));
    p.outside = true;
    CHECK_FALSE(w.take_back(handle(b)));
    p.outside = false;
    w.queue.push_bottom(handle(other).address());
    CHECK_FALSE(w.take_back(handle(b)));
    CHECK(w.queue.steal() == handle(other).address());
    CHECK(w.resumed() == 0);
    CHECK(w.take_back(handle(b)));
    CHECK(w.resumed() == 1);
    CHECK(w.running() == &b);
    CHECK(w.take_back(handle(a)));
    CHECK(w.forks.empty());
}
