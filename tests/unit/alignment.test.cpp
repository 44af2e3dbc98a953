// Items that want the alignment of the widest vector registers, through every stage, channel operation and task.
#include <weir/weir.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using items::take_all;
using weir::async_generator;
using weir::channel;
using weir::generator;
using weir::sync_wait;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

std::atomic<int> misaligned{0};
std::atomic<int> seen{0};

// Looks at each address where one is made, moved, destroyed or used.
template <std::size_t Alignment>
class alignas(Alignment) aligned {
  public:
    aligned() noexcept { look(); }
    explicit aligned(int number) noexcept : number_(number) { look(); }
    aligned(const aligned& other) noexcept : number_(other.number()) { look(); }
    aligned(aligned&& other) noexcept : number_(other.number()) { look(); }
    aligned& operator=(const aligned& other) noexcept {
        number_ = other.number();
        look();
        return *this;
    }
    aligned& operator=(aligned&& other) noexcept { return *this = std::as_const(other); }
    ~aligned() { look(); }

    int number() const noexcept {
        look();
        return number_;
    }
    friend bool operator==(const aligned& a, const aligned& b) noexcept { return a.number() == b.number(); }

  private:
    // A compiler may take for granted that `this` is aligned.
    void look() const noexcept {
        const void* volatile here = this;
        ++seen;
        if (reinterpret_cast<std::uintptr_t>(here) % Alignment != 0) ++misaligned;
    }

    int number_ = 0;
};

using item = aligned<weir::detail::most_frame_alignment>;

// Of what the frames of others hold, and what they make of it.
task<item> doubled(item x) {
    item local(x.number());
    co_await weir::sleep_for(1ms);
    co_return item(local.number() + x.number());
}
task<item> doubled_twice(item x) { co_return co_await doubled(co_await doubled(std::move(x))); }

generator<item> plain(int n) {
    for (int i = 0; i < n; ++i) {
        const item named(i);
        if (i % 2 == 0) {
            co_yield named;
        } else {
            co_yield item(i);
        }
    }
}
async_generator<item> awaiting(int n) {
    for (int i = 0; i < n; ++i) {
        const item named(i);
        co_await weir::sleep_for(1ms);
        if (i % 2 == 0) {
            co_yield named;
        } else {
            co_yield item(i);
        }
    }
}

auto numbers(int from, int to) {
    return weir::source(std::views::iota(from, to)) | weir::pipe([](int i) { return item(i); });
}
template <class Pipeline>
std::size_t count(Pipeline pipeline) {
    virtual_time time;
    return take_all((std::move(pipeline) | weir::sink(3)).start(time)).size();
}
int sum(const std::vector<item>& all) {
    int s = 0;
    for (const item& each : all) s += each.number();
    return s;
}

// Of a whole test case.
class judge {
  public:
    judge() {
        seen = 0;
        misaligned = 0;
    }
    judge(const judge&) = delete;
    judge& operator=(const judge&) = delete;
    ~judge() {
        CHECK(seen > 0);
        CHECK(misaligned == 0);
    }
};

}  // namespace

TEST_CASE("the locals, parameters and results of tasks and generators are aligned") {
    const judge all_aligned;
    virtual_time time;
    const auto uses = [&]() -> task<item> {
        const item one = co_await doubled_twice(item(1));
        CHECK(one.number() == 4);
        auto [a, b] = co_await weir::when_all(doubled(item(2)), doubled(one));
        CHECK(a.number() + b.number() == 12);
        std::vector<task<item>> parts;
        for (int i = 0; i < 3; ++i) parts.push_back(doubled(item(i)));
        const std::vector<item> several = co_await weir::when_all(std::move(parts));
        CHECK(sum(several) == 6);
        const auto first = co_await weir::when_any(doubled(item(5)), weir::sleep_for(1h));
        CHECK(std::get<0>(first).number() == 10);
        std::vector<task<item>> racers;
        for (int i = 0; i < 3; ++i) racers.push_back(doubled(item(7)));
        const auto fastest = co_await weir::when_any(std::move(racers));
        CHECK(fastest.second.number() == 14);
        weir::task_group group(time);
        item out;
        const auto part = [](item x, item& to) -> task<> { to = co_await doubled(std::move(x)); };
        group.spawn(part(item(3), out));
        co_await group.fork(part(item(3), out));
        co_await group.join();
        CHECK(out.number() == 6);
        int total = 0;
        for (const item& each : plain(4)) total += each.number();
        auto later = awaiting(4);
        while (const auto each = co_await later.next()) total += each->number();
        co_return item(total);
    };
    CHECK(sync_wait(time, uses()).number() == 12);
    weir::thread_pool pool(1);
    CHECK(sync_wait(pool, doubled(item(4))).number() == 8);
    CHECK(sync_wait(doubled(item(4))).number() == 8);
}

TEST_CASE("items are aligned in each operation of a channel, also in one that waits") {
    const judge all_aligned;
    virtual_time time;
    for (const std::size_t capacity : {1U, 3U}) {
        channel<item> c(capacity, time);
        const auto puts = [&]() -> task<> {
            bool done = co_await c.put(item(0));
            CHECK(done);
            done = co_await c.emplace(1);
            CHECK(done);
            const auto third = co_await c.put_for(item(2), 1h);
            CHECK(third == weir::channel_status::success);
            const auto fourth = co_await weir::select(weir::on_put(c, item(3)), weir::after(1h));
            CHECK(fourth.index() == 0);
            std::vector<item> some(4);
            for (std::size_t put = 0; put < some.size();) {
                const std::size_t more = co_await c.put_some(std::span(some).subspan(put));
                put += more;
            }
            co_await weir::sleep_for(1ms);
            done = co_await c.put(item(4));
            CHECK(done);
        };
        const auto gets = [&]() -> task<> {
            const std::optional<item> first = co_await c.get();
            const std::optional<item> second = co_await c.get();
            CHECK(second->number() == 1);
            const auto third = co_await c.get_for(1h);
            CHECK(third->number() == 2);
            auto fourth = co_await weir::select(weir::on_get(c), weir::after(1h));
            CHECK(fourth.get<0>()->number() == 3);
            std::vector<item> some(4);
            for (std::size_t got = 0; got < some.size();) {
                const std::size_t more = co_await c.get_some(std::span(some).subspan(got));
                got += more;
            }
            const std::optional<item> last = co_await c.get();
            CHECK(last->number() == 4);
        };
        const auto both = [&](auto first, auto second) -> task<> {
            co_await weir::when_all(std::move(first), std::move(second));
        };
        sync_wait(time, both(puts(), gets()));
    }
    channel<item> c(2, time);
    CHECK(c.blocking_put(item(1)) == weir::channel_status::success);
    CHECK(c.try_put(item(2)) == weir::channel_status::success);
    CHECK(c.blocking_put(item(3), 1s) == weir::channel_status::timed_out);
    CHECK(c.blocking_get()->number() == 1);
    CHECK(c.try_get()->number() == 2);
    CHECK(c.blocking_get(1s).status() == weir::channel_status::timed_out);
}

TEST_CASE("items are aligned in each kind of stage, with one slot and with several") {
    const judge all_aligned;
    for (const std::size_t slots : {1U, 3U}) {
        const auto same = [](item x) { return x; };
        CHECK(count(numbers(0, 9) | weir::pipe(same, {.concurrency = slots}) |
                    weir::pipe(doubled, {.concurrency = slots}) |
                    weir::pipe(doubled, {.concurrency = slots, .output_order = weir::output_order::input}) |
                    weir::filter([](const item& x) { return x.number() % 8 != 0; },
                                 {.concurrency = slots})) == 4);
        CHECK(count(numbers(0, 3) |
                    weir::flat_map([](item x) { return plain(x.number()); }, {.concurrency = slots}) |
                    weir::flat_map([](item x) { return awaiting(x.number()); }, {.concurrency = slots})) ==
              1);
        CHECK(count(numbers(0, 4) | weir::pipe(weir::per_slot([kept = item(1)] {
                                                   return [kept](item x) {
                                                       return item(x.number() + kept.number());
                                                   };
                                               }),
                                               {.concurrency = slots})) == 4);
        std::atomic<int> attempts = 0;
        CHECK(count(numbers(0, 4) | weir::pipe(weir::retry(
                                                   [&](const item& x) -> task<item> {
                                                       if (++attempts % 2 == 1)
                                                           throw std::runtime_error("again");
                                                       co_return co_await doubled(x);
                                                   },
                                                   {.attempts = 100, .delay = 1ms}),
                                               {.concurrency = slots, .time_limit = 1h})) == 4);
    }
    CHECK(count(weir::source(plain(3)) | weir::shuffle(2, 1)) == 3);
    CHECK(count(weir::source([] { return awaiting(3); }) | weir::take(2)) == 2);
    CHECK(count(numbers(0, 7) | weir::aggregate(3) | weir::disaggregate()) == 7);
    CHECK(count(numbers(0, 3) | weir::tee(weir::pipe([](item x) { return x; }))) == 3);
    CHECK(count(weir::merge(numbers(0, 3), weir::source(plain(3)))) == 6);
    CHECK(count(weir::zip(numbers(0, 3), weir::source(plain(4)))) == 3);
    const auto parity = [](const item& x) { return static_cast<std::size_t>(x.number() % 2); };
    CHECK(count(numbers(0, 6) |
                weir::route(parity, weir::branch("even", weir::pipe(doubled)), weir::branch("odd"))) == 6);
    CHECK(count(numbers(0, 6) | weir::aggregate(3) |
                weir::split(parity, weir::branch("even", weir::pipe([](std::vector<item> x) { return x; })),
                            weir::branch("odd"))) == 2);
    weir::stage_list<item> list;
    list.add(weir::pipe(doubled));
    CHECK(count(numbers(0, 2) | list) == 2);
}

TEST_CASE("items are aligned in epochs and in a cache, and where a thread consumes a run") {
    const judge all_aligned;
    virtual_time time;
    CHECK(count(weir::source(weir::epochs([] { return plain(3); }, 2)) | weir::cache(3) |
                weir::aggregate(2)) == 6);
    weir::thread_pool pool(2);
    auto run = (numbers(0, 50) | weir::pipe(doubled, {.concurrency = 2}) | weir::sink(2)).start(pool);
    int total = 0;
    for (const item& x : run) total += x.number();
    CHECK(total == 2 * 49 * 50 / 2);
}
