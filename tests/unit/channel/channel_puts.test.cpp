#include <weir/channel/channel_puts.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/channel_operations.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/slot.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::sleep_for;
using weir::sync_wait;
using weir::task;
using weir::virtual_time;
using weir::when_all;
using weir::detail::base_of;
using weir::detail::numbered_put;

namespace {

using owned = std::shared_ptr<int>;

// A channel whose puts have numbers.
template <class T, class Policy = weir::measured>
struct numbered {
    numbered(std::size_t capacity, weir::executor& on) : ex(&on), queue(capacity, on, "numbered") {
        base_of(queue).keep_order();
    }

    // Puts item `number`, as a slot of its own does; without an item: it was dropped.
    task<bool> put(std::uint64_t number, std::optional<T> item) {
        weir::detail::slot_of<Policy> me(name, number, *ex);
        me.begin(ex->now().time_since_epoch().count());
        numbered_put<weir::channel<T, Policy>> op(me);
        op.next_in_order(item ? &*item : nullptr, queue, number);
        const bool in = co_await op;
        co_return in;
    }
    bool put_now(std::uint64_t number, std::optional<T> item) {
        return sync_wait(*ex, put(number, std::move(item)));
    }
    std::vector<T> all() {
        std::vector<T> got;
        while (auto item = queue.try_get()) got.push_back(std::move(*item));
        return got;
    }

    weir::executor* ex;
    const std::string name = "stage";
    weir::channel<T, Policy> queue;
};

template <class T>
task<> record(task<bool> put, T what, std::vector<T>& log) {
    const bool in = co_await std::move(put);
    log.push_back(in ? what : -what);
}

}  // namespace

TEST_CASE("items with numbers come out by their numbers, in whatever order they were put") {
    std::vector<int> numbers(6);
    std::iota(numbers.begin(), numbers.end(), 0);
    const std::vector<int> sorted = numbers;
    do {
        virtual_time time;
        numbered<int> c(6, time);
        for (const int n : numbers) REQUIRE(c.put_now(static_cast<std::uint64_t>(n), n));
        CHECK(c.queue.stats().num_put == 6);
        if (c.all() != sorted) FAIL("out of order");
    } while (std::ranges::next_permutation(numbers).found);
}

TEST_CASE("an early item is not in the channel before its turn") {
    virtual_time time;
    numbered<int> c(4, time);
    CHECK(c.put_now(2, 2));
    CHECK(c.put_now(1, 1));
    CHECK(c.queue.stats().size == 0);
    CHECK(c.queue.stats().num_put == 0);
    CHECK_FALSE(c.queue.try_get().has_value());
    CHECK(c.put_now(0, 0));
    CHECK(c.queue.stats().size == 3);
    CHECK(c.all() == std::vector<int>{0, 1, 2});
}

TEST_CASE("the place of a dropped item is filled with nothing, and items behind it move up") {
    virtual_time time;
    numbered<std::string> c(8, time);
    CHECK(c.put_now(6, "six, and long enough for memory of its own"));
    CHECK(c.put_now(1, std::nullopt));
    CHECK(c.put_now(3, std::nullopt));
    CHECK(c.put_now(4, "four"));
    CHECK(c.put_now(2, "two"));
    CHECK(c.put_now(0, std::nullopt));
    CHECK(c.queue.stats().size == 2);
    CHECK(c.put_now(5, "five"));
    CHECK(c.all() ==
          std::vector<std::string>{"two", "four", "five", "six, and long enough for memory of its own"});
}

TEST_CASE("an early put waits while its place is farther behind than the channel is long") {
    virtual_time time;
    numbered<int> c(2, time);
    std::vector<int> log;
    const auto rest = [&]() -> task<> {
        co_await sleep_for(1ms);
        CHECK(log.empty());  // 2 would be the third item
        const bool in = co_await c.put(0, 10);
        CHECK(in);
        co_await sleep_for(1ms);
        CHECK(log.empty());  // one is inside, and the other place is that of 1
        const auto first = co_await c.queue.get();
        CHECK(first == 10);
        co_await sleep_for(1ms);
        CHECK(log == std::vector<int>{2});
        CHECK(c.queue.stats().size == 0);
        const bool last = co_await c.put(1, 11);
        CHECK(last);
    };
    std::vector<task<>> parts;
    parts.push_back(record(c.put(2, 12), 2, log));
    parts.push_back(rest());
    sync_wait(time, when_all(std::move(parts)));
    CHECK(c.all() == std::vector<int>{11, 12});
    CHECK(c.queue.stats().put_wait == 0ms);
    CHECK(c.queue.stats().put_blocked == 0ms);
}

TEST_CASE("a put that is earlier than one that waits goes into its place") {
    virtual_time time;
    numbered<int> c(2, time);
    std::vector<int> log;
    const auto rest = [&]() -> task<> {
        co_await sleep_for(1ms);
        const bool early = co_await c.put(1, 11);
        CHECK(early);
        const bool in = co_await c.put(0, 10);
        CHECK(in);
        CHECK(log.empty());
        // 2 waits for room now: its turn has come.
        co_await sleep_for(5ms);
        const auto first = co_await c.queue.get();
        CHECK(first == 10);
        co_await sleep_for(1ms);
        CHECK(log == std::vector<int>{2});
    };
    std::vector<task<>> parts;
    parts.push_back(record(c.put(2, 12), 2, log));
    parts.push_back(rest());
    sync_wait(time, when_all(std::move(parts)));
    CHECK(c.all() == std::vector<int>{11, 12});
    CHECK(c.queue.stats().put_wait == 5ms);
}

TEST_CASE("gets that wait are handed early items when their turn comes") {
    virtual_time time;
    numbered<int> c(4, time);
    std::vector<int> got;
    const auto get = [&]() -> task<> {
        const auto item = co_await c.queue.get();
        got.push_back(*item);
    };
    const auto put = [&]() -> task<> {
        co_await sleep_for(1ms);
        for (const int n : {3, 1, 2}) {
            const bool in = co_await c.put(static_cast<std::uint64_t>(n), n);
            CHECK(in);
        }
        co_await sleep_for(1ms);
        CHECK(got.empty());
        const bool in = co_await c.put(0, std::nullopt);
        CHECK(in);
    };
    std::vector<task<>> parts;
    for (int i = 0; i < 2; ++i) parts.push_back(get());
    parts.push_back(put());
    sync_wait(time, when_all(std::move(parts)));
    CHECK(got == std::vector<int>{1, 2});
    CHECK(c.all() == std::vector<int>{3});
}

TEST_CASE("behind a blocked number puts fail, those that wait too, and early items never come") {
    virtual_time time;
    numbered<owned> c(3, time);
    const owned one = std::make_shared<int>(1);
    std::vector<int> log;
    CHECK(c.put_now(2, one));
    CHECK(c.put_now(1, one));
    CHECK(one.use_count() == 3);
    const auto rest = [&]() -> task<> {
        co_await sleep_for(1ms);
        base_of(c.queue).block_puts(1);
        co_await sleep_for(1ms);
        CHECK(log == std::vector<int>{-5});
        const bool refused = co_await c.put(4, one);
        CHECK_FALSE(refused);
        const bool in = co_await c.put(0, one);
        CHECK(in);
    };
    std::vector<task<>> parts;
    parts.push_back(record(c.put(5, one), 5, log));
    parts.push_back(rest());
    sync_wait(time, when_all(std::move(parts)));
    CHECK(c.queue.stats().size == 2);
    CHECK(c.all().size() == 2);
    c.queue.cancel();
    CHECK(one.use_count() == 1);
    CHECK(c.queue.stats().num_discarded == 0);
}

TEST_CASE("early items are destroyed with the channel, or when it is cancelled") {
    virtual_time time;
    const owned one = std::make_shared<int>(1);
    for (const bool cancels : {false, true}) {
        numbered<owned> c(4, time);
        CHECK(c.put_now(3, one));
        CHECK(c.put_now(1, one));
        CHECK(c.put_now(2, std::nullopt));
        CHECK(one.use_count() == 3);
        if (!cancels) continue;
        c.queue.cancel();
        CHECK(one.use_count() == 1);
        CHECK_FALSE(c.put_now(0, one));
        CHECK_FALSE(c.put_now(5, one));
        CHECK(c.put_now(0, std::nullopt));
    }
    CHECK(one.use_count() == 1);
}

TEST_CASE("a close ends the waits of early puts") {
    virtual_time time;
    numbered<int> c(1, time);
    std::vector<int> log;
    const auto rest = [&]() -> task<> {
        co_await sleep_for(1ms);
        c.queue.close();
    };
    std::vector<task<>> parts;
    parts.push_back(record(c.put(2, 12), 2, log));
    parts.push_back(record(c.put(3, std::nullopt), 3, log));
    parts.push_back(rest());
    sync_wait(time, when_all(std::move(parts)));
    CHECK(log == std::vector<int>{-2, 3});
}

TEST_CASE("early items keep their places when the capacity changes, and put more if it grows") {
    virtual_time time;
    numbered<int> c(4, time);
    std::vector<int> log;
    CHECK(c.put_now(3, 3));
    CHECK(c.put_now(1, 1));
    const auto rest = [&]() -> task<> {
        co_await sleep_for(1ms);
        c.queue.set_capacity(32);
        co_await sleep_for(1ms);
        CHECK(log == std::vector<int>{20});
        c.queue.set_capacity(1);
        for (int n = 0; n < 20; n += n == 0 ? 2 : 1) {
            if (n == 3) continue;
            co_await c.put(static_cast<std::uint64_t>(n), n);
            while (auto item = c.queue.try_get()) log.push_back(*item);
        }
    };
    std::vector<task<>> parts;
    parts.push_back(record(c.put(20, 20), 20, log));
    parts.push_back(rest());
    sync_wait(time, when_all(std::move(parts)));
    log.erase(log.begin());
    std::vector<int> expected(21);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(log == expected);
}

TEST_CASE("the bytes of early items count, and one whose turn has come finds room when nothing is inside") {
    virtual_time time;
    numbered<std::string> c(8, time);
    c.queue.set_max_bytes(10);
    std::vector<int> log;
    const std::string five(5, 'x');
    CHECK(c.put_now(1, five));
    CHECK(c.put_now(2, five));
    CHECK(c.queue.stats().bytes == 10);
    CHECK(c.put_now(4, std::nullopt));
    const auto rest = [&]() -> task<> {
        co_await sleep_for(1ms);
        CHECK(log.empty());
        const bool in = co_await c.put(0, five);
        CHECK(in);
        CHECK(c.queue.stats().size == 3);
        CHECK(c.queue.stats().bytes == 15);
        for (int i = 0; i < 3; ++i) co_await c.queue.get();
        co_await sleep_for(1ms);
        CHECK(log == std::vector<int>{3});
        CHECK(c.queue.stats().bytes == 5);
        c.queue.set_max_bytes(0);
        CHECK(c.queue.stats().bytes == 0);
        CHECK(c.put_now(6, five));
        c.queue.set_max_bytes(100);
        CHECK(c.queue.stats().bytes == 10);
        base_of(c.queue).block_puts(5);
        CHECK(c.queue.stats().bytes == 5);
    };
    std::vector<task<>> parts;
    parts.push_back(record(c.put(3, five), 3, log));
    parts.push_back(rest());
    sync_wait(time, when_all(std::move(parts)));
}

TEST_CASE(
    "puts with numbers that never wait let others have a turn once in 128 of them, also without items") {
    virtual_time time;
    numbered<int> c(4, time);
    int puts = 0;
    std::vector<int> seen;
    const auto drops = [&]() -> task<> {
        weir::detail::slot_of<weir::measured> me(c.name, 0, time);
        me.begin(0);
        numbered_put<weir::channel<int>> op(me);
        for (; puts < 300; ++puts) {
            op.next_in_order(nullptr, c.queue, static_cast<std::uint64_t>(puts));
            const bool in = co_await op;
            CHECK(in);
        }
    };
    const auto looks = [&]() -> task<> {
        while (puts < 300) {
            seen.push_back(puts);
            co_await weir::yield();
        }
    };
    std::vector<task<>> parts;
    parts.push_back(drops());
    parts.push_back(looks());
    sync_wait(time, when_all(std::move(parts)));
    CHECK(seen == std::vector<int>{63, 191});
}

TEST_CASE("an early put that waits is reported as one that waits for its turn") {
    virtual_time time;
    numbered<int> c(1, time);
    std::vector<int> log;
    std::string report;
    const auto rest = [&]() -> task<> {
        co_await sleep_for(1ms);
        report = weir::detail::waiters_at(base_of(c.queue));
        CHECK(base_of(c.queue).contradiction() == nullptr);
        c.queue.close();
    };
    std::vector<task<>> parts;
    parts.push_back(record(c.put(2, 12), 2, log));
    parts.push_back(rest());
    sync_wait(time, when_all(std::move(parts)));
    CHECK(report == "\n  stage 'stage', slot 2 waits for its turn to give an item on");
}

namespace {

// Several coroutines put the numbers that they draw, some of them dropped; what comes out is in order.
template <class Policy>
void put_from_all_sides(std::size_t capacity) {
    weir::thread_pool pool(3);
    constexpr std::uint64_t all = 3000;
    numbered<std::string, Policy> c(capacity, pool);
    std::atomic<std::uint64_t> drawn{0};
    const auto drops = [](std::uint64_t n) { return n % 7 == 3; };
    const auto puts = [&]() -> task<> {
        for (std::uint64_t n = drawn++; n < all; n = drawn++) {
            if (n % 5 == 0) co_await weir::yield();
            std::optional<std::string> item;
            if (!drops(n)) item = "item " + std::to_string(n);
            const bool in = co_await c.put(n, std::move(item));
            if (!in) FAIL("refused");
        }
    };
    bool right = true;
    const auto gets = [&]() -> task<> {
        for (std::uint64_t n = 0; n < all; ++n) {
            if (drops(n)) continue;
            const auto item = co_await c.queue.get();
            right = right && item && *item == "item " + std::to_string(n);
        }
    };
    std::vector<task<>> parts;
    for (int i = 0; i < 4; ++i) parts.push_back(puts());
    parts.push_back(gets());
    sync_wait(pool, when_all(std::move(parts)));
    CHECK(right);
    CHECK(c.queue.stats().size == 0);
}

}  // namespace

TEST_CASE("on a pool items with numbers come out in order, with one lock and with two") {
    for (const std::size_t capacity : {1U, 2U, 3U, 64U}) {
        put_from_all_sides<weir::measured>(capacity);
        put_from_all_sides<weir::summed>(capacity);
        put_from_all_sides<weir::unmeasured>(capacity);
    }
}
