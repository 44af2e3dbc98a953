#include <weir/measure/channel_meter.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/run_graph.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/task/sleep.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace {
using meter = weir::detail::channel_meter<weir::detail::standard_platform>;
static_assert(std::is_empty_v<weir::detail::no_meter>);
using meter_of_sums = weir::detail::channel_meter<weir::detail::standard_platform, false>;
static_assert(sizeof(meter_of_sums) < 256);
static_assert(sizeof(meter) < 3 * 1024);
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

using namespace std::chrono_literals;
using weir::channel;
using weir::virtual_time;
using weir::detail::sink_figures;

namespace {

using times = std::vector<weir::duration>;

template <class Policy>
actor produce(channel<int, Policy>& out, const times& work, bool closes) {
    int n = 0;
    for (const weir::duration each : work) {
        co_await weir::sleep_for(each);
        const bool taken = co_await out.put(n++);
        if (!taken) break;
    }
    if (closes) out.close();
}

template <class Policy>
actor consume(channel<int, Policy>& in, const times& work) {
    for (const weir::duration each : work) {
        const auto got = co_await in.get();
        if (!got) break;
        co_await weir::sleep_for(each);
    }
}

// A sink by hand: a coroutine between two queues.
template <class Policy>
actor pass_on(channel<int, Policy>& in, channel<int, Policy>& out) {
    while (auto got = co_await in.get()) {
        const bool taken = co_await out.put(std::move(*got));
        if (!taken) break;
    }
    out.close();
}

// What comes of the same times with a sink by hand, and with one that is only accounted for.
template <class Policy>
struct both {
    virtual_time time;
    channel<int, Policy> before, behind, merged;
    weir::detail::fused_sink sink;
    times work, takes;
    std::vector<actor> actors;

    both(std::size_t capacity_before, std::size_t capacity, times producer, times consumer, bool closes)
        : before(capacity_before, time, "work"), behind(capacity, time, "sink"),
          merged(capacity_before, time, "work"), sink(options(capacity), capacity_before),
          work(std::move(producer)), takes(std::move(consumer)) {
        weir::detail::base_of(merged).merge_sink("sink", sink.total_capacity(), capacity, 0);
        weir::detail::base_of(merged).start_measuring(0);
        actors.push_back(produce(before, work, closes));
        actors.push_back(pass_on(before, behind));
        actors.push_back(consume(behind, takes));
        actors.push_back(produce(merged, work, closes));
        actors.push_back(consume(merged, takes));
        for (actor& each : actors) each.start(time);
    }

    static weir::stage_options options(std::size_t capacity) {
        weir::stage_options o;
        o.name = "sink";
        o.capacity = capacity;
        return o;
    }

    weir::pipeline_stats accounted() {
        weir::pipeline_stats s;
        weir::detail::later<sink_figures> kept;
        s.channels.push_back(weir::detail::base_of(merged).stats(std::nullopt, &kept));
        REQUIRE(static_cast<bool>(kept));
        sink.split(s, 0, kept);
        return s;
    }
    weir::pipeline_stats by_hand() {
        weir::pipeline_stats s;
        s.channels = {before.stats(), behind.stats()};
        return s;
    }
};

times random_times(std::mt19937& random, std::size_t n, int longest) {
    std::uniform_int_distribution<int> some(0, longest);
    times all;
    for (std::size_t i = 0; i < n; ++i) all.emplace_back(some(random));
    return all;
}

template <class Policy>
void compare(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto pick = [&random](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    const auto before = static_cast<std::size_t>(pick(1, 3));
    const auto behind = static_cast<std::size_t>(pick(1, 4));
    const bool closes = pick(0, 1) == 1;
    times work = random_times(random, 60, pick(1, 30));
    times takes = random_times(random, 70, pick(1, 30));
    both<Policy> of(before, behind, std::move(work), std::move(takes), closes);
    for (int look = 0; look < 30; ++look) {
        // Odd, so that it falls between what happens at one instant, and after all of it.
        of.time.run_until(of.time.now() + weir::duration(pick(1, 60)));
        const weir::pipeline_stats expected = of.by_hand();
        const weir::pipeline_stats found = of.accounted();
        CAPTURE(seed, look, before, behind, of.time.now().time_since_epoch().count());
        REQUIRE(found.channels.size() == 2);
        for (std::size_t i = 0; i < 2; ++i) {
            CAPTURE(i);
            const weir::channel_stats& a = found.channels[i];
            const weir::channel_stats& b = expected.channels[i];
            CHECK(a.size == b.size);
            CHECK(a.num_put == b.num_put);
            CHECK(a.num_get == b.num_get);
            CHECK(a.put_wait == b.put_wait);
            CHECK(a.get_wait == b.get_wait);
            CHECK(a.put_blocked == b.put_blocked);
            CHECK(a.get_blocked == b.get_blocked);
            CHECK(a.empty == b.empty);
            REQUIRE(a == b);
        }
        const weir::slot_times& slot = found.stages.at(0).per_slot.at(0);
        CHECK(slot.total() == found.stages.at(0).elapsed);
        CHECK(slot.wait_get == expected.channels[0].get_wait);
        CHECK(slot.wait_put == expected.channels[1].put_wait);
    }
}

}  // namespace

TEST_CASE("the accounts of a sink are those of a coroutine between two queues, to the nanosecond") {
    for (std::uint32_t seed = 0; seed < 200; ++seed) compare<weir::measured>(seed);
}

TEST_CASE("without histograms, too") {
    for (std::uint32_t seed = 0; seed < 50; ++seed) compare<weir::summed>(seed);
}

TEST_CASE("a sink has ended, and is off, when what it takes from is closed and it has passed on everything") {
    both<weir::measured> of(2, 1, {10ns, 0ns, 0ns}, {100ns, 100ns, 100ns, 0ns}, true);
    of.time.run_until(weir::time_point(50ns));
    CHECK(of.accounted().stages[0].per_slot[0].off == 0ns);  // the third item waits in its hand
    of.time.run_until(weir::time_point(400ns));
    const weir::slot_times slot = of.accounted().stages[0].per_slot[0];
    CHECK(slot.wait_get == 10ns);
    CHECK(slot.wait_put == 100ns);
    CHECK(slot.off == 290ns);
}

TEST_CASE("an item that a cancelled sink held counts as taken and not as passed on") {
    virtual_time time;
    channel<int> merged(2, time, "work");
    weir::detail::base_of(merged).merge_sink("sink", 2 + 1 + 1, 1, 0);
    weir::detail::base_of(merged).start_measuring(0);
    for (int i = 0; i < 4; ++i) CHECK(merged.try_put(int{i}) == weir::channel_status::success);
    time.run_until(weir::time_point(7ns));
    merged.cancel();
    time.run_until(weir::time_point(9ns));
    weir::detail::later<sink_figures> kept;
    const weir::channel_stats all = weir::detail::base_of(merged).stats(std::nullopt, &kept);
    CHECK(all.size == 0);
    CHECK(all.num_get == 0);
    REQUIRE(static_cast<bool>(kept));
    CHECK(kept->num_taken == 2);
    CHECK(kept->num_passed == 1);
    CHECK(kept->wait_put == 7ns);
    CHECK(kept->wait_get == 0ns);
}

TEST_CASE("a sink whose queue gets more room passes on what it has, and one with less keeps what is inside") {
    virtual_time time;
    channel<int> merged(2, time, "work");
    auto& queue = weir::detail::base_of(merged);
    queue.merge_sink("sink", 2 + 1 + 2, 2, 0);
    queue.start_measuring(0);
    for (int i = 0; i < 5; ++i) CHECK(merged.try_put(int{i}) == weir::channel_status::success);
    time.run_until(weir::time_point(5ns));
    weir::detail::later<sink_figures> kept;
    const auto look = [&] {
        static_cast<void>(queue.stats(std::nullopt, &kept));
        return std::pair(kept->num_taken, kept->num_passed);
    };
    CHECK(look() == std::pair<std::uint64_t, std::uint64_t>(3, 2));
    queue.set_capacity(2 + 1 + 4, 4);
    CHECK(look() == std::pair<std::uint64_t, std::uint64_t>(5, 4));
    CHECK(kept->put_waits.count() == 4);
    CHECK(kept->put_waits.max() == 5ns);  // of the one; the next went through
    queue.set_capacity(2 + 1 + 1, 1);
    CHECK(look() == std::pair<std::uint64_t, std::uint64_t>(5, 4));
    for (int i = 0; i < 3; ++i) CHECK(merged.try_get().has_value());
    CHECK(look() == std::pair<std::uint64_t, std::uint64_t>(5, 4));
    CHECK(merged.try_get().has_value());
    CHECK(look() == std::pair<std::uint64_t, std::uint64_t>(5, 5));
}

TEST_CASE("when an item last came or went is known exactly, but of who takes one of several unseen") {
    const auto is_mark = [](std::uint64_t) { return false; };
    weir::detail::sink_meter<weir::detail::standard_platform> m(2);
    CHECK(m.moved(0, 0, 0) == INT64_MAX);
    m.start(10);
    CHECK(m.moved(0, 0, 10) == 10);
    m.advance(20, 1, 0, false, is_mark);
    CHECK(m.moved(0, 1, 20) == 20);
    m.advance(30, 3, 0, false, is_mark);  // its queue is full, and it has one in its hand
    CHECK(m.moved(0, 3, 20) == 30);
    m.advance(40, 3, 1, false, is_mark);  // who takes one lets it go on
    CHECK(m.moved(1, 2, 20) == 40);
    m.settle(50);
    CHECK(m.moved(2, 1, 20) == 50);  // taken between 40 and 50: it was seen at 50
    m.settle(60);
    CHECK(m.moved(2, 1, 20) == 50);
    m.settle(70);
    CHECK(m.moved(3, 0, 65) == 65);  // the last one: the queue knows
}
