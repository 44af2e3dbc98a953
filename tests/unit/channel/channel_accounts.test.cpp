#include <weir/channel/channel_accounts.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;

namespace {

// The accounts without items or waiters.
class accounts final : public weir::detail::channel_accounts<weir::measured> {
    using base = weir::detail::channel_accounts<weir::measured>;

  public:
    explicit accounts(weir::executor* clock) : base(4, clock) {}

    void is_empty(bool empty, weir::detail::slot* by) {
        const whole held(*this);
        base::now_empty(empty, by);
    }
    std::int64_t read(weir::detail::slot* by) {
        const whole held(*this);
        return base::reading(by);
    }
    void passes(std::uint64_t put, std::uint64_t got, std::uint64_t marks) {
        const whole held(*this);
        put_end_.count.fetch_add(put);
        get_end_.count.fetch_add(got);
        for (std::uint64_t i = 0; i < marks; ++i) base::count_mark();
    }
    void throw_away(std::uint64_t items) {
        const whole held(*this);
        get_end_.count.fetch_add(items);
        base::discard(items);
    }
    weir::channel_stats stats() {
        weir::channel_stats s;
        const whole held(*this);
        base::fill(s, std::nullopt);
        return s;
    }
};

struct timed {
    std::string stage = "stage";
    std::unique_ptr<weir::detail::timed_slot<true>> slot;
    explicit timed(weir::virtual_time& time)
        : slot(std::make_unique<weir::detail::timed_slot<true>>(stage, 0, time)) {
        slot->begin(0);
        slot->resumed(0);
    }
    // So many invocations, of which each took that long.
    void work(weir::virtual_time& time, int invocations, weir::duration each) {
        for (int i = 0; i < invocations; ++i) {
            time.run_until(time.now() + each);
            if (slot->meter.count_invocation()) slot->catch_up(time.now().time_since_epoch().count());
        }
    }
};

}  // namespace

TEST_CASE("an event of a slot whose invocations share a reading is at about now, without one") {
    weir::virtual_time time;
    timed by(time);
    accounts a(&time);
    by.work(time, 31, 20ns);  // 1 + 2 + 4 + 8 + 16 share a reading each
    CHECK(by.slot->last_reading == 620);
    by.work(time, 3, 20ns);
    time.run_until(time.now() + 7ns);  // it has gone on a little since
    a.is_empty(false, by.slot.get());
    CHECK(by.slot->last_reading == 620);
    CHECK(a.stats().empty == 680ns);
    SECTION("but what begins to wait reads the clock") {
        CHECK(a.read(by.slot.get()) == 687);
        CHECK(by.slot->last_reading == 687);
    }
    SECTION("and so does who did something else since, of which nobody knows how long it takes") {
        time.run_until(time.now() + 1s);
        by.slot->meter.record_other_work();
        a.is_empty(true, by.slot.get());
        CHECK(by.slot->last_reading == 1'000'000'687);
    }
}

TEST_CASE("an event that was dated too late doesn't bring the next ones out of order") {
    weir::virtual_time time;
    timed by(time);
    accounts a(&time);
    by.work(time, 31, 100ns);
    by.work(time, 3, 1ns);  // faster than usual
    a.is_empty(false, by.slot.get());
    a.is_empty(true, nullptr);
    time.run_until(weir::time_point(4us));
    const weir::channel_stats s = a.stats();
    CHECK(s.elapsed == 4us);
    CHECK(s.empty == 4us);
}

TEST_CASE("marks are no items, and what was thrown away was not got") {
    weir::virtual_time time;
    accounts a(&time);
    a.passes(10, 4, 0);
    a.passes(2, 2, 2);  // handed over
    weir::channel_stats s = a.stats();
    CHECK(s.num_put == 10);
    CHECK(s.num_get == 4);
    CHECK(s.size == 6);
    a.throw_away(6);
    s = a.stats();
    CHECK(s.num_put == 10);
    CHECK(s.num_get == 4);
    CHECK(s.size == 0);
}
