#include <weir/channel/any_channel.hpp>

#include "support/catch.hpp"

#include <weir/channel/byte_budget.hpp>
#include <weir/channel/channel.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

using weir::channel;
using weir::channel_status;
using namespace std::chrono_literals;

namespace {

class limit final : public weir::detail::byte_budget {
  public:
    using byte_budget::byte_budget;
    void has_room() noexcept override { ++told; }
    int told = 0;
};

}  // namespace

TEST_CASE("who doesn't know the type of its items finds a channel's name and its figures") {
    weir::virtual_time time;
    channel<int> typed(3, time, "decode");
    auto& any = weir::detail::inside(typed);
    CHECK(any.name() == "decode");
    CHECK(typed.try_put(1) == channel_status::success);
    const weir::channel_stats stats = any.stats(0);
    CHECK(stats.name == "decode");
    CHECK(stats.capacity == 3);
    CHECK(stats.num_put == 1);
}

TEST_CASE("a channel of a run measures from the beginning of its run, up to the instant that is asked for") {
    weir::virtual_time time;
    channel<int> typed(1, time, "q");
    auto& any = weir::detail::inside(typed);
    time.run_until(weir::time_point() + 5s);
    any.start_measuring(std::chrono::nanoseconds(2s).count());
    const weir::channel_stats stats = any.stats(std::chrono::nanoseconds(6s).count());
    CHECK(stats.elapsed == 4s);
    CHECK(stats.empty == 4s);
}

TEST_CASE("a channel that is cancelled is empty, and takes nothing any more") {
    weir::virtual_time time;
    channel<std::shared_ptr<int>, weir::unmeasured> typed(2, time, "q");
    const auto item = std::make_shared<int>(1);
    auto copy = item;
    CHECK(typed.try_put(std::move(copy)) == channel_status::success);
    CHECK(item.use_count() == 2);
    auto& any = weir::detail::inside(typed);
    any.cancel();
    CHECK(item.use_count() == 1);
    CHECK(typed.try_put(std::make_shared<int>(2)) == channel_status::closed);
}

TEST_CASE("a channel's capacity is changed, and one of 0 refused, without its type") {
    weir::virtual_time time;
    channel<int> typed(1, time, "q");
    auto& any = weir::detail::inside(typed);
    any.set_capacity(2);
    CHECK(typed.try_put(1) == channel_status::success);
    CHECK(typed.try_put(2) == channel_status::success);
    CHECK(typed.try_put(3) == channel_status::full);
    CHECK_THROWS_AS(any.set_capacity(0), std::invalid_argument);
}

TEST_CASE("what lies in a channel counts for the budget of its run, on behalf of its sources") {
    weir::virtual_time time;
    limit budget(2 * sizeof(int));
    const std::uint64_t one = budget.add_source(), other = budget.add_source();
    channel<int> typed(4, time, "q");
    auto& any = weir::detail::inside(typed);
    any.set_budget(&budget, one);
    CHECK(any.sources() == one);
    CHECK(typed.try_put(1) == channel_status::success);
    CHECK(typed.try_put(2) == channel_status::success);
    CHECK(budget.is_spent(one));
    CHECK_FALSE(budget.is_spent(other));
    CHECK(typed.try_get());
    CHECK(budget.told == 1);
    CHECK_FALSE(budget.is_spent(one));
}

TEST_CASE("what its owner destroys without knowing its items' type destroys what is inside") {
    weir::virtual_time time;
    const auto item = std::make_shared<int>(1);
    auto* const typed = new channel<std::shared_ptr<int>>(2, time, "q");
    CHECK(typed->try_put(std::shared_ptr<int>(item)) == channel_status::success);
    std::unique_ptr<weir::detail::any_channel<weir::measured>> owner(&weir::detail::inside(*typed));
    CHECK(item.use_count() == 2);
    owner.reset();
    CHECK(item.use_count() == 1);
}

TEST_CASE("a channel from which a consumer takes knows when its first item was got, by whatever gets it") {
    weir::virtual_time time;
    const auto ns = [](std::chrono::nanoseconds at) { return at.count(); };
    for (const std::size_t capacity : {1U, 2U, 8U}) {
        for (const int way : {0, 1, 2, 3}) {
            CAPTURE(capacity, way);
            channel<int> typed(capacity, time, "q");
            auto& any = weir::detail::inside(typed);
            const auto begin = time.now();
            any.start_measuring(ns(begin.time_since_epoch()), true);
            const auto takes = [](auto& from, int how) -> weir::task<> {
                std::vector<int> some(1);
                if (how == 0) static_cast<void>(co_await from.get());
                if (how == 1) static_cast<void>(co_await from.get_some(some));
                if (how == 2) static_cast<void>(from.try_get());
                if (how == 3) static_cast<void>(from.blocking_get(weir::duration(0)));
            };
            const auto does = [&]() -> weir::task<> {
                co_await weir::sleep_for(1s);
                static_cast<void>(co_await typed.put(1));
                co_await weir::sleep_for(2s);
                CHECK_FALSE(any.first_got());
                co_await takes(typed, way);
                co_await weir::sleep_for(4s);
                static_cast<void>(co_await typed.put(2));
                co_await takes(typed, way);
            };
            weir::sync_wait(time, does());
            CHECK(any.first_got() == ns(begin.time_since_epoch() + 3s));
            CHECK(any.stats({}).num_get == 2);
        }
    }
}

TEST_CASE("a first item that a consumer waits for is got when it is put, and one that is discarded never") {
    weir::virtual_time time;
    channel<int> handed(2, time, "q");
    channel<int> discarded(2, time, "q");
    channel<int> unasked(2, time, "q");
    channel<int, weir::unmeasured> unmeasured(2, time, "q");
    weir::detail::inside(handed).start_measuring(0, true);
    weir::detail::inside(discarded).start_measuring(0, true);
    weir::detail::inside(unasked).start_measuring(0);
    weir::detail::inside(unmeasured).start_measuring(0, true);
    const auto puts = [&]() -> weir::task<> {
        co_await weir::sleep_for(3s);
        static_cast<void>(co_await handed.put(1));
        static_cast<void>(co_await discarded.put(1));
        static_cast<void>(co_await unasked.put(1));
        static_cast<void>(co_await unmeasured.put(1));
    };
    const auto gets = [&]() -> weir::task<> {
        static_cast<void>(co_await handed.get());
        static_cast<void>(co_await unasked.get());
        static_cast<void>(co_await unmeasured.get());
        discarded.cancel();
    };
    weir::sync_wait(time, weir::when_all(gets(), puts()));
    CHECK(weir::detail::inside(handed).first_got() == std::chrono::nanoseconds(3s).count());
    CHECK_FALSE(weir::detail::inside(discarded).first_got());
    CHECK_FALSE(weir::detail::inside(unasked).first_got());
    CHECK_FALSE(weir::detail::inside(unmeasured).first_got());
}
