#include <weir/channel/channel_accounts.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/run/priority_lanes.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

using namespace std::chrono_literals;
using weir::channel;
using weir::channel_status;
using weir::task;
using weir::virtual_time;
using weir::detail::standard_platform;
using channel_clock = weir::detail::channel_clock<standard_platform>;

namespace {

// Something of which nothing is left when it is gone: whoever still asks it then crashes.
template <class T>
class short_lived {
  public:
    template <class... Args>
    explicit short_lived(Args... args) : object_(new(place_) T(args...)) {}
    short_lived(const short_lived&) = delete;
    short_lived& operator=(const short_lived&) = delete;
    ~short_lived() {
        if (object_ != nullptr) end();
    }
    T& operator*() { return *object_; }
    void end() {
        object_->~T();
        object_ = nullptr;
        std::memset(place_, 0xee, sizeof place_);
    }

  private:
    alignas(T) std::byte place_[sizeof(T)];
    T* object_;
};

task<> hand_over(channel<int>& c, int n) {
    const auto puts = [](channel<int>& to, int count) -> task<> {
        for (int i = 0; i < count; ++i) static_cast<void>(co_await to.put(int(i)));
    };
    const auto gets = [](channel<int>& from, int count) -> task<> {
        for (int i = 0; i < count; ++i) {
            const std::optional<int> item = co_await from.get();
            CHECK(item == i);
        }
    };
    co_await weir::when_all(puts(c, n), gets(c, n));
}

// All that a channel does with a clock, on a channel that has had another one.
void use_all(channel<int>& c, weir::executor& ex) {
    weir::sync_wait(ex, hand_over(c, 10));
    CHECK(c.try_put(1) == channel_status::success);
    CHECK(c.try_put(2) == channel_status::success);
    CHECK(c.blocking_put(3, 0ns) == channel_status::timed_out);
    CHECK(c.try_get().value() == 1);
    CHECK(c.blocking_get().value() == 2);
    CHECK(c.blocking_get(0ns).status() == channel_status::timed_out);
    c.set_capacity(5);
    static_cast<void>(c.stats());
}

template <class Executor, class... Args>
void outlive(Args... args) {
    channel<int> c(2);
    short_lived<Executor> first(args...);
    weir::sync_wait(*first, hand_over(c, 10));
    first.end();
    {
        weir::thread_pool pool(1);
        use_all(c, pool);
        c.set_capacity(2);
    }
    virtual_time time;
    use_all(c, time);
    c.close();
    CHECK(c.stats().num_put == 34);
    CHECK(c.stats().num_get == 34);
}

}  // namespace

TEST_CASE("a channel works on after the executor whose clock it had found was destroyed") {
    outlive<weir::thread_pool>(1U);
    outlive<weir::blocking_pool>(1U);
    outlive<virtual_time>();
    outlive<weir::run_loop>();
}

TEST_CASE(
    "the times of a channel stand still after its executor was destroyed, whatever executor comes next") {
    channel<int> c(1);
    short_lived<virtual_time> first;
    const auto slowly = [](channel<int>& to) -> task<> {
        static_cast<void>(co_await to.put(1));
        co_await weir::sleep_for(5s);
        static_cast<void>(co_await to.get());
        co_await weir::sleep_for(2s);
    };
    weir::sync_wait(*first, slowly(c));
    CHECK(c.stats().elapsed == 7s);
    CHECK(c.stats().empty == 2s);
    first.end();
    CHECK(c.stats().elapsed == 7s);
    virtual_time second;
    weir::sync_wait(second, slowly(c));
    CHECK(c.stats().elapsed == 7s);
    CHECK(c.stats().empty == 2s);
    CHECK(c.stats().num_put == 2);
}

TEST_CASE("a new executor at the address of a destroyed one is not taken for that one") {
    alignas(virtual_time) std::byte place[sizeof(virtual_time)];
    auto* const first = new (place) virtual_time;
    channel_clock clock(nullptr);
    CHECK(clock.now() == 0);
    CHECK(clock.bind(*first));
    CHECK_FALSE(clock.bind(*first));
    CHECK(clock.owner() == first);
    CHECK(clock.now() == first->now().time_since_epoch().count());
    first->~virtual_time();
    CHECK(clock.owner() == nullptr);
    auto* const second = new (place) virtual_time;
    CHECK(clock.owner() == nullptr);
    CHECK(clock.now() == INT64_MIN);
    CHECK(clock.bound());
    second->~virtual_time();
}

TEST_CASE("a channel used through priority lanes keeps the executor behind the lanes") {
    weir::thread_pool pool(1);
    channel_clock clock(nullptr);
    {
        weir::priority_lanes lanes(pool);
        CHECK(clock.bind(lanes.add()));
    }
    CHECK(clock.owner() == &pool);
}

namespace {

// The accounts without items or waiters.
class accounts final : public weir::detail::channel_accounts<weir::measured> {
    using base = weir::detail::channel_accounts<weir::measured>;

  public:
    explicit accounts(weir::executor* clock) : base(4, clock) {}

    void is_empty(bool empty, weir::detail::slot* by) {
        const whole_lock held(*this);
        base::emptiness_changed(empty, by);
    }
    std::int64_t read(weir::detail::slot* by) {
        const whole_lock held(*this);
        return base::reading(by);
    }
    void passes(std::uint64_t put, std::uint64_t got, std::uint64_t marks) {
        const whole_lock held(*this);
        put_end_.count.fetch_add(put);
        get_end_.count.fetch_add(got);
        for (std::uint64_t i = 0; i < marks; ++i) base::count_mark();
    }
    void throw_away(std::uint64_t items) {
        const whole_lock held(*this);
        get_end_.count.fetch_add(items);
        base::discard(items);
    }
    weir::channel_stats stats() {
        weir::channel_stats s;
        const whole_lock held(*this);
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

TEST_CASE("an event of a slot whose invocations share a reading gets an estimated time, without a reading") {
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

TEST_CASE("an event with an estimate that is too late keeps the next events in order") {
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

TEST_CASE("marks are not counted as items, and discarded items not as got") {
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
