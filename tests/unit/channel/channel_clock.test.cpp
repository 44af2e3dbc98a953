#include <weir/channel/channel_clock.hpp>

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
#include <new>
#include <optional>
#include <utility>

using weir::channel;
using weir::channel_status;
using weir::task;
using weir::virtual_time;
using weir::detail::standard_platform;
using namespace std::chrono_literals;
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

TEST_CASE("a channel goes on when the executor is gone whose clock it had found by itself") {
    outlive<weir::thread_pool>(1U);
    outlive<weir::blocking_pool>(1U);
    outlive<virtual_time>();
    outlive<weir::run_loop>();
}

TEST_CASE("its times stand still from then on, and the next executor changes nothing about that") {
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

TEST_CASE("an executor that comes where the one was that is gone is another one") {
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

TEST_CASE("of lanes a channel keeps the executor that they lead to") {
    weir::thread_pool pool(1);
    channel_clock clock(nullptr);
    {
        weir::priority_lanes lanes(pool);
        CHECK(clock.bind(lanes.add()));
    }
    CHECK(clock.owner() == &pool);
}
