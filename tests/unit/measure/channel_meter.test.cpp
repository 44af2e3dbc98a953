#include <weir/measure/channel_meter.hpp>

#include "support/catch.hpp"

#include <weir/platform/platform.hpp>

#include <cstdint>
#include <type_traits>

namespace {
using meter = weir::detail::channel_meter<weir::detail::standard_platform>;
static_assert(std::is_empty_v<weir::detail::no_meter>);
using meter_of_sums = weir::detail::channel_meter<weir::detail::standard_platform, false>;
static_assert(sizeof(meter_of_sums) < 256);
static_assert(sizeof(meter) > 20 * 1024);
}  // namespace

TEST_CASE("a meter counts a wait once for each operation, and being blocked once for all") {
    meter m;
    CHECK_FALSE(m.started());
    m.start(100);
    CHECK(m.started());
    CHECK(m.begin() == 100);
    CHECK(m.settle(110) == 110);
    m.gets.waiting = 1;
    m.settle(113);
    m.gets.waiting = 3;
    m.settle(120);
    m.gets.waiting = 0;
    m.settle(150);
    CHECK(m.gets.wait == 3 + 3 * 7);
    CHECK(m.gets.blocked() == 10);
    CHECK(m.puts.wait == 0);
    CHECK(m.puts.blocked() == 0);
    CHECK(m.elapsed() == 50);
}

TEST_CASE("a meter knows how long its channel was empty, which it is at first") {
    meter m;
    m.start(0);
    m.settle(5);
    m.set_empty(false);
    m.settle(8);
    m.set_empty(true);
    m.settle(10);
    CHECK(m.empty() == 7);
    CHECK(m.elapsed() == 10);
    CHECK(m.turned() == 8);
}

TEST_CASE("an instant that lies before the last event counts as that one") {
    meter m;
    m.start(100);
    m.puts.waiting = 2;
    CHECK(m.settle(120) == 120);
    CHECK(m.settle(90) == 120);  // read before the lock was had
    m.puts.waiting = 1;
    CHECK(m.settle(121) == 121);
    CHECK(m.puts.wait == 41);
    CHECK(m.puts.blocked() == 21);
    CHECK(m.empty() == 21);
    CHECK(m.elapsed() == 21);
}

TEST_CASE("looking at a meter splits an open interval and changes no sum") {
    meter seldom, often;
    for (meter* m : {&seldom, &often}) {
        m->start(0);
        m->gets.waiting = 2;
    }
    for (int t = 1; t <= 1'000; ++t) {
        often.settle(t);
        if (t % 7 == 0) often.settle(t);
    }
    seldom.settle(1'000);
    CHECK(often.gets.wait == seldom.gets.wait);
    CHECK(often.gets.blocked() == seldom.gets.blocked());
    CHECK(often.empty() == seldom.empty());
}

TEST_CASE("sums of waits stop at the longest time there is, wherever the clock is set to") {
    meter m;
    m.start(INT64_MIN);
    m.gets.waiting = 3;
    m.puts.waiting = 1;
    const std::int64_t jumps[] = {-1, 4'000'000'000'000'000'000, 4'000'000'000'000'001'000, INT64_MAX};
    for (const std::int64_t now : jumps) CHECK(m.settle(now) == now);
    CHECK(m.gets.wait == INT64_MAX);
    CHECK(m.gets.blocked() == INT64_MAX);
    CHECK(m.puts.wait == INT64_MAX);
    CHECK(m.empty() == INT64_MAX);
    CHECK(m.elapsed() == INT64_MAX);
}

TEST_CASE("a sum that just fits is not cut off") {
    meter m;
    m.start(0);
    m.gets.waiting = 2;
    m.settle(INT64_MAX / 2);
    CHECK(m.gets.wait == INT64_MAX - 1);
}

TEST_CASE("a sum that has stopped stays where it is") {
    meter m;
    m.start(0);
    m.gets.waiting = 3;
    m.settle(4'000'000'000'000'000'000);
    CHECK(m.gets.wait == INT64_MAX);
    m.settle(4'000'000'000'000'001'000);
    CHECK(m.gets.wait == INT64_MAX);
    CHECK(m.gets.blocked() == 4'000'000'000'000'001'000);
}

TEST_CASE("the sum of very many waits stops, too") {
    meter m;
    m.start(0);
    m.puts.waiting = std::uint64_t{1} << 20;
    m.settle(1'000);
    CHECK(m.puts.wait == (std::int64_t{1} << 20) * 1'000);
    m.settle(std::int64_t{1} << 43);
    CHECK(m.puts.wait == INT64_MAX);
    CHECK(m.puts.blocked() == std::int64_t{1} << 43);
}

TEST_CASE("a meter knows when the first item was got, no earlier than what happened before") {
    meter m;
    CHECK(m.first() == INT64_MIN);
    m.start(100);
    m.settle(120);
    m.note_first(90);
    m.settle(150);
    CHECK(m.first() == 120);
}
