#include <weir/channel/batch_operation.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"
#include "support/vanishing.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::channel;
using weir::channel_status;
using weir::sync_wait;
using weir::task;
using weir::virtual_time;
using weir::when_all;

namespace {

using box = std::unique_ptr<int>;

std::vector<int> numbers(int first, int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), first);
    return all;
}
std::vector<box> boxes(int count) {
    std::vector<box> all;
    for (int i = 0; i < count; ++i) all.push_back(std::make_unique<int>(i));
    return all;
}

// On virtual time, up to where nothing is left to do at this instant.
void run(actor& a, virtual_time& time) {
    a.start(time);
    time.run_until(time.now());
}

template <class T, class Policy>
actor put_them(channel<T, Policy>& c, std::vector<T>& items, std::optional<std::size_t>& moved,
               weir::stop_token stop = {}) {
    moved = co_await c.put_some(items, stop);
}
template <class T, class Policy>
actor get_them(channel<T, Policy>& c, std::vector<T>& into, std::optional<std::size_t>& moved,
               weir::stop_token stop = {}) {
    moved = co_await c.get_some(into, stop);
}

actor nothing() { co_return; }

}  // namespace

TEST_CASE("what fits goes in at once and what is inside comes out at once, in order, at each capacity") {
    for (const std::size_t capacity : {1U, 2U, 3U, 7U, 64U}) {
        virtual_time time;
        channel<int> c(capacity, time);
        channel<int, weir::unmeasured> u(capacity, time);
        const auto through = [&]<class Policy>(channel<int, Policy>& each) -> task<> {
            for (std::size_t size = 1; size <= capacity + 2; ++size) {
                std::vector<int> in = numbers(0, static_cast<int>(size));
                std::vector<int> out(capacity + 5, -1);
                const std::size_t most = std::min(size, capacity);
                const std::size_t put = co_await each.put_some(in);
                CHECK(put == most);
                CHECK(each.size() == most);
                const std::size_t first = co_await each.get_some(std::span(out).first(1));
                CHECK(first == 1);
                CHECK(out[0] == 0);
                if (most == 1) continue;
                const std::size_t rest = co_await each.get_some(std::span(out).subspan(1));
                CHECK(rest == most - 1);
                for (std::size_t i = 0; i < most; ++i) CHECK(out[i] == static_cast<int>(i));
                CHECK(out[most] == -1);
                CHECK(each.size() == 0);
            }
        };
        sync_wait(time, through(c));
        sync_wait(time, through(u));
        CHECK(c.stats().num_put == c.stats().num_get);
    }
}

TEST_CASE("who serves one that waits moves the rest of its batch at once, also around the ring's end") {
    for (const bool getter_waits : {true, false}) {
        virtual_time time;
        channel<box> c(4, time);
        channel<box, weir::unmeasured> u(4, time);
        const auto through = [&]<class Policy>(channel<box, Policy>& each) {
            for (int turn = 0; turn < 4; ++turn) {  // the ring's end is elsewhere in each
                std::vector<box> in = boxes(6);
                std::vector<box> first(1);
                std::vector<box> out(6);
                std::optional<std::size_t> served;
                std::optional<std::size_t> put;
                std::optional<std::size_t> got;
                std::size_t n = 0;
                actor waits = getter_waits ? get_them(each, first, served) : nothing();
                if (getter_waits) run(waits, time);
                actor putter = put_them(each, in, put);
                run(putter, time);
                CHECK(put == (getter_waits ? 5U : 4U));
                std::vector<box> more(1);
                more[0] = std::make_unique<int>(static_cast<int>(*put));
                actor late = put_them(each, more, served);
                if (!getter_waits) run(late, time);
                if (getter_waits) CHECK(*first[0] == static_cast<int>(n++));
                actor getter = get_them(each, out, got);
                run(getter, time);
                CHECK(got == (getter_waits ? 4U : 5U));
                for (std::size_t i = 0; i < *got; ++i) CHECK(*out[i] == static_cast<int>(n++));
                CHECK(served == 1U);
                CHECK(each.size() == 0);
                // Moves the ring on by one.
                actor one = put_them(each, more, put);
                more[0] = std::make_unique<int>(0);
                run(one, time);
                actor same = get_them(each, first, got);
                run(same, time);
            }
        };
        through(c);
        through(u);
        CHECK(c.stats().num_put == c.stats().num_get);
        CHECK(c.stats().num_put == 4 * 6);
        CHECK(c.stats().put_waits.count() == 4 * 6);
    }
}

TEST_CASE("a batch counts each of its items, and its wait once") {
    virtual_time time;
    for (const std::size_t capacity : {2U, 4U}) {
        channel<int> c(capacity, time);
        const auto take = [&]() -> task<> {
            std::vector<int> out(10);
            const std::size_t first = co_await c.get_some(std::span(out).first(1));  // it waits for that
            CHECK(first == 1);
            co_await weir::sleep_for(5us);
            const std::size_t rest = co_await c.get_some(out);  // and that of the put that waits
            CHECK(rest == capacity + 1);
            for (std::size_t i = 0; i < rest; ++i) CHECK(out[i] == static_cast<int>(i) + 1);
        };
        const auto give = [&]() -> task<> {
            co_await weir::sleep_for(3us);
            std::vector<int> in = numbers(0, static_cast<int>(capacity) + 2);
            const std::size_t one = co_await c.put_some(std::span(in).first(1));
            CHECK(one == 1);
            const std::size_t more = co_await c.put_some(std::span(in).subspan(1));
            CHECK(more == capacity);
            co_await weir::sleep_for(1us);
            const std::size_t last = co_await c.put_some(std::span(in).last(1));  // waits
            CHECK(last == 1);
        };
        const auto before = time.now();
        sync_wait(time, when_all(take(), give()));
        CHECK(time.now() - before == 8us);
        const weir::channel_stats s = c.stats();
        CHECK(s.num_put == capacity + 2);
        CHECK(s.num_get == capacity + 2);
        CHECK(s.get_wait == 3us);
        CHECK(s.get_waits.count() == capacity + 2);
        CHECK(s.get_waits.max() == 3us);
        CHECK(s.put_wait == 4us);
        CHECK(s.put_waits.count() == capacity + 2);
        CHECK(s.put_waits.sum() == 4us);
        CHECK(s.empty == 3us);
    }
}

TEST_CASE("a batch that waits takes the first item by itself, and with it what has come since") {
    virtual_time time;
    channel<int> c(8, time);
    std::vector<int> into(4, -1);
    std::optional<std::size_t> got;
    actor getter = get_them(c, into, got);
    run(getter, time);
    CHECK_FALSE(got);
    for (int i = 0; i < 6; ++i) CHECK(c.try_put(i + 0) == channel_status::success);
    time.run_until(time.now());
    CHECK(got == 4);
    CHECK(into == numbers(0, 4));
    CHECK(c.size() == 2);
}

TEST_CASE("a batch that waits puts its first item by itself, and with it what there is room for since") {
    virtual_time time;
    channel<box> c(3, time);
    std::vector<box> before = boxes(3);
    std::vector<box> items = boxes(5);
    std::optional<std::size_t> first;
    std::optional<std::size_t> second;
    actor fills = put_them(c, before, first);
    run(fills, time);
    CHECK(first == 3);
    actor waits = put_them(c, items, second);
    run(waits, time);
    CHECK_FALSE(second);
    for (const box& b : items) CHECK(b != nullptr);
    CHECK(**c.try_get() == 0);
    CHECK(**c.try_get() == 1);
    time.run_until(time.now());
    CHECK(second == 2);
    CHECK(items[0] == nullptr);
    CHECK(items[1] == nullptr);
    for (std::size_t i = 2; i < 5; ++i) CHECK(*items[i] == static_cast<int>(i));
    CHECK(c.size() == 3);
}

TEST_CASE("a batch put serves who waits to get, one after the other") {
    virtual_time time;
    for (const std::size_t capacity : {1U, 4U}) {
        channel<int> c(capacity, time);
        std::array<std::vector<int>, 2> into{std::vector<int>(3), std::vector<int>(3)};
        std::array<std::optional<std::size_t>, 2> got;
        actor a = get_them(c, into[0], got[0]);
        actor b = get_them(c, into[1], got[1]);
        run(a, time);
        run(b, time);
        std::vector<int> items = numbers(7, 2);
        std::optional<std::size_t> put;
        actor p = put_them(c, items, put);
        run(p, time);
        CHECK(put == 2);
        CHECK(got[0] == 1);
        CHECK(got[1] == 1);
        CHECK(into[0][0] == 7);
        CHECK(into[1][0] == 8);
        CHECK(c.size() == 0);
    }
}

TEST_CASE("a batch get lets in as many of those who wait to put as it makes room for") {
    virtual_time time;
    channel<int> c(2, time);
    std::vector<int> items = numbers(0, 2);
    std::optional<std::size_t> put;
    actor fills = put_them(c, items, put);
    run(fills, time);
    std::array<std::vector<int>, 3> more{numbers(2, 1), numbers(3, 1), numbers(4, 1)};
    std::array<std::optional<std::size_t>, 3> in;
    std::array<std::optional<actor>, 3> puts;
    for (std::size_t i = 0; i < 3; ++i) {
        puts[i].emplace(put_them(c, more[i], in[i]));
        run(*puts[i], time);
        CHECK_FALSE(in[i]);
    }
    std::vector<int> out(4, -1);
    std::optional<std::size_t> got;
    actor gets = get_them(c, out, got);
    run(gets, time);
    CHECK(got == 4);
    CHECK(out == numbers(0, 4));
    for (const auto& each : in) CHECK(each == 1);
    CHECK(c.size() == 1);
}

TEST_CASE("nothing is moved, and nobody waits, where there are no items or no room for any") {
    virtual_time time;
    channel<int> c(1, time);
    sync_wait(time, [](channel<int>& each) -> task<> {
        const std::size_t got = co_await each.get_some(std::span<int>());
        const std::size_t put = co_await each.put_some(std::span<int>());
        CHECK(got + put == 0);
    }(c));
    CHECK(c.stats().num_put == 0);
    CHECK(time.now() == weir::time_point{});
}

TEST_CASE("a closed channel takes no batch, and gives what is inside before it gives nothing") {
    for (const std::size_t capacity : {2U, 8U}) {
        virtual_time time;
        channel<box> c(capacity, time);
        std::vector<box> items = boxes(2);
        std::optional<std::size_t> put;
        actor fills = put_them(c, items, put);
        run(fills, time);
        c.close();
        std::vector<box> refused = boxes(2);
        actor late = put_them(c, refused, put);
        run(late, time);
        CHECK(put == 0);
        CHECK(refused[0] != nullptr);
        std::vector<box> out(5);
        std::optional<std::size_t> got;
        actor last = get_them(c, out, got);
        run(last, time);
        CHECK(got == 2);
        CHECK(*out[1] == 1);
        actor none = get_them(c, out, got);
        run(none, time);
        CHECK(got == 0);
        CHECK(*out[1] == 1);
    }
}

TEST_CASE("closing a channel ends the wait of a batch, and a put's items stay with the caller") {
    virtual_time time;
    channel<box> full(1, time);
    channel<box> empty(1, time);
    CHECK(full.try_put(std::make_unique<int>(9)) == channel_status::success);
    std::vector<box> items = boxes(2);
    std::vector<box> into(2);
    std::optional<std::size_t> put;
    std::optional<std::size_t> got;
    actor p = put_them(full, items, put);
    actor g = get_them(empty, into, got);
    run(p, time);
    run(g, time);
    CHECK_FALSE(put);
    CHECK_FALSE(got);
    full.close();
    empty.close();
    time.run_until(time.now());
    CHECK(put == 0);
    CHECK(got == 0);
    CHECK(*items[0] == 0);
    CHECK(*items[1] == 1);
    CHECK(full.size() == 1);
}

TEST_CASE("a stop ends the wait of a batch, and loses nothing that was handed over before") {
    virtual_time time;
    channel<box> c(1, time);
    weir::stop_source stop;
    std::vector<box> into(2);
    std::optional<std::size_t> got;
    actor g = get_them(c, into, got, stop.get_token());
    run(g, time);
    CHECK(c.try_put(std::make_unique<int>(4)) == channel_status::success);  // handed over
    stop.request_stop();
    time.run_until(time.now());
    CHECK(got == 1);
    CHECK(*into[0] == 4);
    actor again = get_them(c, into, got, stop.get_token());
    run(again, time);
    CHECK(got == 0);

    CHECK(c.try_put(std::make_unique<int>(5)) == channel_status::success);
    weir::stop_source other;
    std::vector<box> items = boxes(2);
    std::optional<std::size_t> put;
    actor p = put_them(c, items, put, other.get_token());
    run(p, time);
    CHECK_FALSE(put);
    other.request_stop();
    time.run_until(time.now());
    CHECK(put == 0);
    CHECK(*items[0] == 0);
}

TEST_CASE("a coroutine that is destroyed while its batch waits, or has been served, leaves nothing behind") {
    virtual_time time;
    channel<box> c(1, time);
    std::vector<box> into(2);
    std::optional<std::size_t> got;
    {
        actor g = get_them(c, into, got);
        run(g, time);
    }
    CHECK(c.try_put(std::make_unique<int>(1)) == channel_status::success);
    CHECK(c.size() == 1);
    std::vector<box> items = boxes(1);
    std::optional<std::size_t> put;
    {
        actor p = put_them(c, items, put);
        run(p, time);
    }
    CHECK(*items[0] == 0);
    CHECK(**c.try_get() == 1);
    CHECK(c.size() == 0);
}

TEST_CASE("a coroutine that is destroyed before it has fetched what was handed to its batch destroys it") {
    virtual_time time;
    channel<std::shared_ptr<int>> c(1, time);
    std::vector<std::shared_ptr<int>> into(2);
    std::optional<std::size_t> got;
    const auto item = std::make_shared<int>(1);
    {
        actor g = get_them(c, into, got);
        run(g, time);
        CHECK(c.try_put(std::shared_ptr<int>(item)) == channel_status::success);
        CHECK(item.use_count() == 2);
    }
    CHECK(item.use_count() == 1);
    CHECK_FALSE(got);
}

TEST_CASE("the time that a channel is empty is exact, whatever is put or taken at once") {
    for (const std::size_t capacity : {2U, 3U, 8U}) {
        virtual_time time;
        channel<int> c(capacity, time);
        sync_wait(time, [](channel<int>& each) -> task<> {
            std::vector<int> items(2);
            for (int i = 0; i < 5; ++i) {
                co_await weir::sleep_for(1us);
                co_await each.put_some(items);
                co_await weir::sleep_for(10us);
                co_await each.get_some(items);
            }
            co_await weir::sleep_for(1us);
        }(c));
        CHECK(c.stats().empty == 6us);
    }
}

TEST_CASE("a limit in bytes holds for each item of a batch") {
    virtual_time time;
    channel<std::string> c(8, time);
    c.set_max_bytes(2 * weir::item_size<std::string>::of(std::string(100, 'a')));
    std::vector<std::string> items(3, std::string(100, 'a'));
    std::optional<std::size_t> put;
    actor p = put_them(c, items, put);
    run(p, time);
    CHECK(put == 2);
    CHECK(items[1].empty());
    CHECK(items[2].size() == 100);
    std::vector<std::string> out(3);
    std::optional<std::size_t> got;
    actor g = get_them(c, out, got);
    run(g, time);
    CHECK(got == 2);
    CHECK(c.stats().bytes == 0);
}

TEST_CASE("batches that always find their channel ready let others of their executor go on") {
    for (const std::size_t size : {1U, 3U, 64U, 200U}) {
        virtual_time time;
        channel<int, weir::unmeasured> c(256, time);
        std::uint64_t passed = 0;
        std::uint64_t others = 0;
        bool done = false;
        const auto moves = [&]() -> task<> {
            std::vector<int> items(size);
            while (passed < 10'000) {
                const std::size_t in = co_await c.put_some(items);
                const std::size_t out = co_await c.get_some(items);
                CHECK(in == size);
                CHECK(out == size);
                passed += size;
            }
            done = true;
        };
        const auto counts = [&]() -> task<> {
            while (!done) {
                ++others;
                co_await weir::schedule(time);
            }
        };
        sync_wait(time, when_all(moves(), counts()));
        CHECK(others >= 2 * (passed / 256));
        CHECK(others <= 2 * (passed / (size > 128 ? size : 128)) + 3);
    }
}

TEST_CASE("a batch that goes to the end of the queue reads nothing of a frame that may be gone") {
    runs_within_post ex;
    channel<int, weir::unmeasured> c(256);
    std::vector<int> items(200);
    std::size_t in = 0;
    std::size_t out = 0;
    const auto moves = [&](weir::executor&) -> vanishing {
        in = co_await c.put_some(items);
        out = co_await c.get_some(items);
    };
    moves(ex);
    CHECK(in == 200);
    CHECK(out == 200);
    CHECK(ex.posted == 2);
}

TEST_CASE("what waits in a stage's function for a batch ends with its run") {
    virtual_time time;
    channel<int> never(1, time);
    auto run = (weir::source(std::vector<int>{1}) | weir::pipe([&](int) -> task<int> {
                    std::vector<int> into(2);
                    co_return static_cast<int>(co_await never.get_some(into));
                }) |
                weir::sink(1))
                   .start(time);
    time.run_until(time.now());
    run.stop();
    time.run_until(time.now());
    CHECK(never.size() == 0);
    CHECK(never.try_put(1) == channel_status::success);
    CHECK(never.size() == 1);  // nobody waits for it any more
}

TEST_CASE("many threads move batches, and each item arrives once") {
    weir::thread_pool pool(3);
    for (const std::size_t capacity : {1U, 2U, 5U, 64U}) {
        channel<std::uint64_t> c(capacity, pool);
        constexpr std::uint64_t each = 6'000;
        constexpr std::uint64_t producers = 2;
        weir::detail::standard_platform::atomic<std::uint64_t> sum{0};
        weir::detail::standard_platform::atomic<std::uint64_t> count{0};
        weir::detail::standard_platform::atomic<std::uint64_t> going{producers};
        const auto give = [&](std::uint64_t first) -> task<> {
            std::array<std::uint64_t, 9> items{};
            for (std::uint64_t i = 0; i < each;) {
                const std::size_t n = std::min<std::size_t>(items.size(), each - i);
                std::iota(items.begin(), items.end(), first + i);
                i += co_await c.put_some(std::span(items).first(n));
            }
            if (going.fetch_sub(1) == 1) c.close();
        };
        const auto take = [&]() -> task<> {
            std::array<std::uint64_t, 7> items{};
            while (const std::size_t n = co_await c.get_some(items)) {
                count += n;
                for (std::size_t i = 0; i < n; ++i) sum += items[i];
            }
        };
        sync_wait(pool, when_all(give(0), give(each), take(), take()));
        constexpr std::uint64_t all = producers * each;
        CHECK(count == all);
        CHECK(sum == all * (all - 1) / 2);
        const weir::channel_stats s = c.stats();
        CHECK(s.num_put == all);
        CHECK(s.num_get == all);
    }
}
