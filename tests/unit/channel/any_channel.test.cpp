#include <weir/channel/any_channel.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/item_size.hpp>
#include <weir/executor/errors.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/platform/parking.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::channel;
using weir::channel_status;
using weir::sync_wait;
using weir::task;
using weir::virtual_time;
using weir::when_all;
using box = std::unique_ptr<int>;

namespace {

class limit final : public weir::detail::byte_budget {
  public:
    using byte_budget::byte_budget;
    void has_room() noexcept override { ++told; }
    int told = 0;
};

}  // namespace

TEST_CASE("code that doesn't know the item type reads a channel's name and statistics") {
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

TEST_CASE("a channel of a run measures from the beginning of the run up to the given instant") {
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

TEST_CASE("the bytes in a channel count for the budget of the run, and for the sources of the channel") {
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

TEST_CASE("a channel destroyed through its base destroys the items inside") {
    weir::virtual_time time;
    const auto item = std::make_shared<int>(1);
    auto* const typed = new channel<std::shared_ptr<int>>(2, time, "q");
    CHECK(typed->try_put(std::shared_ptr<int>(item)) == channel_status::success);
    std::unique_ptr<weir::detail::any_channel<weir::measured>> owner(&weir::detail::inside(*typed));
    CHECK(item.use_count() == 2);
    owner.reset();
    CHECK(item.use_count() == 1);
}

TEST_CASE("the channel of a consumer records when the first item was got, by every kind of get") {
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

TEST_CASE("a first item for a waiting consumer is got when it is put; a discarded item is never got") {
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

namespace {

const weir::time_point t0{};

}  // namespace

TEST_CASE("a thread whose time is over still waits for an answer that is under way") {
    // Two wait for an item when the channel is closed: a coroutine, which is woken first, and a thread. While
    // the coroutine is being posted, the thread's time is over, and it finds that it has been answered.
    class slow_to_post final : public weir::executor {
      public:
        explicit slow_to_post(std::atomic<bool>& returned) : returned_(&returned) {}
        void post(std::coroutine_handle<>) noexcept override {
            closing_.set();
            while (!late_.wait()) {
            }
            for (int i = 0; i < 10'000 && !*returned_; ++i) std::this_thread::yield();
            early_ = returned_->load();
        }
        void add(weir::timer&) noexcept override {}
        void cancel(weir::timer&) noexcept override {}
        weir::time_point now() const noexcept override { return t0 + weir::duration(hours_.load()); }
        bool drive(flag&, weir::time_point) override {
            waiting_.set();
            while (!closing_.wait()) {
            }
            hours_ = 10;
            late_.set();
            return true;
        }
        void wait_for_the_thread() {
            while (!waiting_.wait()) {
            }
        }
        bool returned_early() const noexcept { return early_; }

      private:
        std::atomic<bool>* returned_;
        std::atomic<std::int64_t> hours_{0};
        weir::detail::parker waiting_, closing_, late_;
        bool early_ = false;
    };
    std::atomic<bool> returned{false};
    slow_to_post ex(returned);
    channel<int> c(1, ex);
    const auto get = [](channel<int>& from) -> actor { static_cast<void>(co_await from.get()); };
    actor first = get(c);
    first.handle.promise().env().executor = &ex;
    first.handle.resume();
    channel_status status = channel_status::success;
    std::thread second([&] {
        status = c.blocking_get(weir::duration(5)).status();
        returned = true;
    });
    ex.wait_for_the_thread();
    c.close();
    second.join();
    CHECK_FALSE(ex.returned_early());
    CHECK(status == channel_status::closed);
}

TEST_CASE("a thread that blocks on virtual time waits in that time, and loses nothing when it is over") {
    virtual_time time;
    channel<box> c(1, time);
    struct body {
        static task<> put_at(weir::time_point t, channel<box>& to, int n) {
            co_await weir::sleep_until(t);
            co_await to.put(std::make_unique<int>(n));
        }
        static task<int> get_at(weir::time_point t, channel<box>& from) {
            co_await weir::sleep_until(t);
            const std::optional<box> b = co_await from.get();
            co_return *b ? **b : -1;
        }
    };
    class nobody final : public weir::detail::detached_task_owner {
        void ended() noexcept override {}
    } owner;
    SECTION("in a get") {
        auto put = body::put_at(t0 + 10s, c, 1);
        auto detached_task = weir::detail::make_detached_task<void, task<>>(put);
        detached_task.start(time, nullptr, owner);
        CHECK(c.blocking_get(4s).status() == channel_status::timed_out);
        CHECK(time.now() == t0 + 4s);
        CHECK(c.blocking_get(6s).status() == channel_status::timed_out);  // is due at that instant
        CHECK(time.now() == t0 + 10s);
        CHECK(c.blocking_get(0s).status() == channel_status::timed_out);
        auto got = c.blocking_get(1s);
        REQUIRE(got);
        CHECK(**got == 1);
        CHECK(time.now() == t0 + 10s);
        CHECK(c.blocking_get(-1s).status() == channel_status::timed_out);
        CHECK(c.blocking_get(weir::duration::min()).status() == channel_status::timed_out);
        CHECK(time.now() == t0 + 10s);
    }
    SECTION("in a put") {
        auto get = body::get_at(t0 + 10s, c);
        auto detached_task = weir::detail::make_detached_task<int, task<int>>(get);
        detached_task.start(time, nullptr, owner);
        CHECK(c.blocking_put(std::make_unique<int>(1)) == channel_status::success);
        CHECK(time.now() == t0);
        box item = std::make_unique<int>(2);
        CHECK(c.blocking_put(std::move(item), 4s) == channel_status::timed_out);
        REQUIRE(item);
        CHECK(*item == 2);
        CHECK(time.now() == t0 + 4s);
        CHECK(c.blocking_put(std::move(item)) == channel_status::success);
        CHECK_FALSE(item);
        CHECK(time.now() == t0 + 10s);
        time.run();
        CHECK(detached_task.take() == 1);
        CHECK(**c.blocking_get() == 2);
    }
    const weir::channel_stats s = c.stats();
    CHECK(s.put_blocked + s.get_blocked == 10s);
    CHECK(s.put_wait + s.get_wait == 10s);
}

TEST_CASE("a thread that would block for ever on virtual time gets a deadlock error, and may try again") {
    virtual_time time;
    channel<int> c(1, time);
    CHECK_THROWS_AS(c.blocking_get(), weir::deadlock_error);
    CHECK(c.try_put(1) == channel_status::success);
    int item = 2;
    CHECK_THROWS_AS(c.blocking_put(std::move(item)), weir::deadlock_error);
    CHECK(item == 2);
    CHECK(c.size() == 1);
    CHECK(*c.blocking_get() == 1);
    CHECK(c.size() == 0);
    c.close();
    CHECK(c.blocking_get().status() == channel_status::closed);
    CHECK(c.blocking_put(3) == channel_status::closed);
}

TEST_CASE("a coroutine that blocks its thread runs the executor that it keeps from running") {
    struct body {
        static task<int> sum(channel<int>& c) {
            int s = 0;
            for (;;) {
                auto n = c.blocking_get();
                if (!n) break;
                s += *n;
            }
            co_return s;
        }
        static task<> put(channel<int>& c, int n) {
            for (int i = 1; i <= n; ++i) {
                co_await weir::sleep_for(1us);
                co_await c.put(i + 0);
            }
            c.close();
        }
        static task<> block_on_put(channel<int>& c, int n) {
            for (int i = 1; i <= n; ++i) {
                if (c.blocking_put(i + 0) != channel_status::success) co_return;
            }
            c.close();
            co_return;
        }
        static task<int> get(channel<int>& c) {
            int s = 0;
            while (const auto n = co_await c.get()) s += *n;
            co_return s;
        }
    };
    channel<int> first(2), second(2), third(2), fourth(2);
    virtual_time time;
    CHECK(std::get<0>(sync_wait(time, when_all(body::sum(first), body::put(first, 100)))) == 5'050);
    CHECK(time.now() == t0 + 100us);
    CHECK(std::get<1>(sync_wait(time, when_all(body::block_on_put(second, 100), body::get(second)))) ==
          5'050);
    weir::thread_pool pool(1);
    CHECK(std::get<0>(sync_wait(pool, when_all(body::sum(third), body::put(third, 100)))) == 5'050);
    CHECK(std::get<1>(sync_wait(pool, when_all(body::block_on_put(fourth, 100), body::get(fourth)))) ==
          5'050);
}

TEST_CASE("threads without any executor put and get, block, and give up") {
    channel<int> c(1);
    CHECK(c.blocking_get(0ns).status() == channel_status::timed_out);
    CHECK(c.blocking_get(1us).status() == channel_status::timed_out);
    CHECK(c.blocking_put(1) == channel_status::success);
    CHECK(c.blocking_put(2, 1us) == channel_status::timed_out);
    CHECK(*c.blocking_get() == 1);
    int sum = 0;
    std::thread getter([&] {
        for (;;) {
            const auto n = c.blocking_get();
            if (!n) break;
            sum += *n;
        }
    });
    for (int i = 1; i <= 1'000; ++i) c.blocking_put(i + 0);
    c.close();
    getter.join();
    CHECK(sum == 500'500);
    CHECK(c.blocking_put(1) == channel_status::closed);
    CHECK(c.stats().num_get == 1'001);
}

TEST_CASE("threads that block are woken when the channel is closed") {
    for (int i = 0; i < 20; ++i) {
        channel<int> empty(1), full(1);
        CHECK(full.try_put(0) == channel_status::success);
        std::atomic<int> closed{0}, kept{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 2; ++t) {
            threads.emplace_back([&] {
                if (empty.blocking_get(1h).status() == channel_status::closed) ++closed;
            });
            threads.emplace_back([&] {
                int item = 5;
                if (full.blocking_put(std::move(item)) == channel_status::closed) ++closed;
                if (item == 5) ++kept;
            });
        }
        if (i % 2 == 0) std::this_thread::yield();
        empty.close();
        full.close();
        for (std::thread& t : threads) t.join();
        REQUIRE(closed == 4);
        REQUIRE(kept == 2);
        REQUIRE(full.size() == 1);
    }
}
