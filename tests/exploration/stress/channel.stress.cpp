// Many coroutines and threads against each other on one channel: every item arrives once, or is
// still the caller's; nobody waits for ever.
#include <weir/channel/channel.hpp>

#include "support/catch.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::channel;
using weir::channel_status;
using weir::task;

namespace {

using box = std::unique_ptr<int>;

// Who has seen which item, and how often.
class books {
  public:
    explicit books(int items) : seen_(static_cast<std::size_t>(items)) {}
    void count(const box& b) {
        if (b) {
            seen_[static_cast<std::size_t>(*b)].fetch_add(1, std::memory_order_relaxed);
        } else {
            hollow_.fetch_add(1);
        }
    }
    // The first thing that is wrong, or nothing.
    std::string check() const {
        if (hollow_.load() != 0) return "an item came without its inside, or was refused without it";
        for (const auto& n : seen_) {
            if (n.load() == 0) return "an item was lost";
            if (n.load() > 1) return "an item was seen twice";
        }
        return "";
    }

  private:
    std::vector<std::atomic<int>> seen_;
    std::atomic<int> hollow_{0};
};

// What is refused is counted by the one who has it still.
task<> produce(channel<box>& c, books& all, int first, int count, weir::stop_token stop) {
    for (int i = first; i < first + count; ++i) {
        box item = std::make_unique<int>(i);
        const bool in = co_await c.put(std::move(item), stop);
        if (!in) all.count(item);
    }
}

task<> consume(channel<box>& c, books& all, weir::stop_token stop) {
    while (const auto item = co_await c.get(stop)) all.count(*item);
}

task<> close_after(channel<box>& c, std::vector<task<>> producers) {
    co_await weir::when_all(std::move(producers));
    c.close();
}

// Half of them stop each other, at random.
task<> disturb(std::deque<weir::stop_source>& sources, unsigned seed, weir::executor& ex) {
    std::minstd_rand random(seed);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        for (auto n = random() % 50; n > 0; --n) co_await weir::schedule(ex);
        sources[random() % sources.size()].request_stop();
    }
}

void drain(channel<box>& c, books& all) {
    while (auto item = c.try_get()) all.count(*item);
}

}  // namespace

TEST_CASE("many producers and consumers on a pool: what went in comes out, each item once") {
    for (const unsigned workers : {1U, 3U}) {
        for (const std::size_t capacity : {1U, 8U}) {
            constexpr int producers = 4, consumers = 4, each = 2'500;
            weir::thread_pool pool(workers);
            channel<box> c(capacity);
            books all(producers * each);
            std::vector<task<>> puts, everybody;
            for (int p = 0; p < producers; ++p) puts.push_back(produce(c, all, p * each, each, {}));
            for (int k = 0; k < consumers; ++k) everybody.push_back(consume(c, all, {}));
            everybody.push_back(close_after(c, std::move(puts)));
            weir::sync_wait(pool, weir::when_all(std::move(everybody)));
            CHECK(all.check() == "");
            CHECK(c.stats().num_put == producers * each);
            CHECK(c.stats().num_get == producers * each);
        }
    }
}

TEST_CASE("operations that are stopped, closed or cancelled from other threads lose no item") {
    constexpr int producers = 4, consumers = 4, each = 200;
    weir::thread_pool pool(3);
    for (unsigned round = 0; round < 60; ++round) {
        channel<box> c(1 + round % 3);
        books all(producers * each);
        std::deque<weir::stop_source> sources(static_cast<std::size_t>(producers + consumers));
        std::vector<task<>> puts, everybody;
        for (int p = 0; p < producers; ++p) {
            auto stop = sources[static_cast<std::size_t>(p)].get_token();
            puts.push_back(produce(c, all, p * each, each, std::move(stop)));
        }
        for (int k = 0; k < consumers; ++k) {
            auto stop = sources[static_cast<std::size_t>(producers + k)].get_token();
            everybody.push_back(consume(c, all, std::move(stop)));
        }
        everybody.push_back(consume(c, all, {}));
        everybody.push_back(close_after(c, std::move(puts)));
        everybody.push_back(disturb(sources, round + 1, pool));
        std::thread outside([&] {
            for (std::size_t i = 0; i < sources.size(); i += 2) {
                std::this_thread::yield();
                sources[i].request_stop();
            }
            if (round % 3 == 0) c.close();
        });
        weir::sync_wait(pool, weir::when_all(std::move(everybody)));
        outside.join();
        drain(c, all);
        CAPTURE(round);
        REQUIRE(all.check() == "");
    }
}

TEST_CASE("threads that put and get with short time-outs lose no item") {
    constexpr int each = 2'000;
    SECTION("among themselves") {
        channel<box> c(1);
        books all(2 * each);
        std::atomic<int> producing{2}, timed_out{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 2; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < each; ++i) {
                    box item = std::make_unique<int>(t * each + i);
                    // Gives up and tries again: the item has to be there still.
                    while (c.blocking_put(std::move(item), weir::duration(i % 4 * 500)) !=
                           channel_status::success) {
                        timed_out.fetch_add(1);
                    }
                }
                if (producing.fetch_sub(1) == 1) c.close();
            });
            threads.emplace_back([&, t] {
                for (int i = 0;; ++i) {
                    auto item = c.blocking_get(weir::duration((i + t) % 4 * 500));
                    if (item) {
                        all.count(*item);
                    } else if (item.status() == channel_status::closed) {
                        break;
                    } else {
                        timed_out.fetch_add(1);
                    }
                }
            });
        }
        for (std::thread& t : threads) t.join();
        CHECK(all.check() == "");
    }
    SECTION("with coroutines on the other side") {
        weir::thread_pool pool(2);
        channel<box> to(2), from(2);
        books all(each);
        struct body {
            static task<> move(channel<box>& in, channel<box>& out) {
                while (auto item = co_await in.get()) {
                    const bool sent = co_await out.put(std::move(*item));
                    if (!sent) co_return;
                }
            }
            static task<> move_all(channel<box>& in, channel<box>& out) {
                co_await weir::when_all(move(in, out), move(in, out), move(in, out));
                out.close();
            }
        };
        std::thread putter([&] {
            for (int i = 0; i < each; ++i) {
                box item = std::make_unique<int>(i);
                while (to.blocking_put(std::move(item), weir::duration(i % 4 * 500)) !=
                       channel_status::success) {
                }
            }
            to.close();
        });
        std::thread getter([&] {
            for (int i = 0;; ++i) {
                auto item = from.blocking_get(weir::duration(i % 4 * 500));
                if (item) all.count(*item);
                if (item.status() == channel_status::closed) break;
            }
        });
        weir::sync_wait(pool, body::move_all(to, from));
        putter.join();
        getter.join();
        CHECK(all.check() == "");
    }
}

TEST_CASE("threads of a blocking pool that block on channels do each other's work") {
    // Fewer threads than coroutines that block: each has to run others while it waits.
    constexpr int each = 300;
    struct body {
        static task<> put(channel<box>& c, int first) {
            for (int i = first; i < first + each; ++i) c.blocking_put(std::make_unique<int>(i));
            co_return;
        }
        static task<> get(channel<box>& c, books& all) {
            for (int i = 0; i < each; ++i) {
                co_await weir::schedule(*weir::detail::current_executor());
                auto item = c.blocking_get();
                if (item) all.count(*item);
            }
        }
        static task<> get_without_blocking(channel<box>& c, books& all) {
            for (int i = 0; i < each; ++i) {
                const auto item = co_await c.get();
                if (item) all.count(*item);
            }
        }
    };
    channel<box> c(1);
    books all(2 * each);
    SECTION("one thread, and all of them block") {
        weir::blocking_pool pool(1);
        weir::sync_wait(pool, weir::when_all(body::put(c, 0), body::get(c, all), body::put(c, each),
                                             body::get(c, all)));
    }
    // With more threads, not both sides: a get that blocks on top of a put, in the same thread, may
    // wait for what only that put would bring.
    SECTION("two threads, and the puts block") {
        weir::blocking_pool pool(2);
        std::vector<task<>> everybody;
        for (const int first : {0, each}) {
            everybody.push_back(body::put(c, first));
            everybody.push_back(body::get_without_blocking(c, all));
        }
        weir::sync_wait(pool, weir::when_all(std::move(everybody)));
    }
    SECTION("two threads, and the gets block") {
        weir::blocking_pool pool(2);
        weir::sync_wait(pool, weir::when_all(produce(c, all, 0, each, {}), body::get(c, all),
                                             produce(c, all, each, each, {}), body::get(c, all)));
    }
    CHECK(all.check() == "");
}

TEST_CASE("the capacity changes and statistics are read while a channel is in use") {
    constexpr int producers = 2, consumers = 2, each = 3'000;
    weir::thread_pool pool(2);
    channel<box> c(2, pool, "busy");
    books all(producers * each);
    std::atomic<bool> done{false};
    std::string wrong;
    std::thread outside([&] {
        std::minstd_rand random(1);
        weir::channel_stats before = c.stats();
        while (!done) {
            c.set_capacity(1 + random() % 5);
            const weir::channel_stats now = c.stats();
            if (now.elapsed < before.elapsed || now.empty < before.empty || now.put_wait < before.put_wait ||
                now.get_wait < before.get_wait || now.num_put < before.num_put ||
                now.num_get < before.num_get) {
                wrong = "something went backwards";
            }
            if (now.empty > now.elapsed || now.put_blocked > now.put_wait || now.get_blocked > now.get_wait ||
                now.put_blocked > now.elapsed || now.get_blocked > now.elapsed || now.num_get > now.num_put ||
                now.put_wait > producers * now.elapsed || now.get_wait > consumers * now.elapsed) {
                wrong = "a figure is greater than it can be";
            }
            if (now.num_put - now.num_get != now.size) wrong = "puts - gets is not what is inside";
            before = now;
            std::this_thread::yield();
        }
    });
    std::vector<task<>> puts, everybody;
    for (int p = 0; p < producers; ++p) puts.push_back(produce(c, all, p * each, each, {}));
    for (int k = 0; k < consumers; ++k) everybody.push_back(consume(c, all, {}));
    everybody.push_back(close_after(c, std::move(puts)));
    weir::sync_wait(pool, weir::when_all(std::move(everybody)));
    done = true;
    outside.join();
    CHECK(wrong == "");
    CHECK(all.check() == "");
    const weir::channel_stats s = c.stats();
    CHECK(s.put_waits.count() == s.num_put);
    CHECK(s.get_waits.count() == s.num_get);
}

TEST_CASE("whoever waits when a channel is closed from another thread is woken, on both sides") {
    weir::thread_pool pool(2);
    for (int round = 0; round < 300; ++round) {
        channel<box> c(1);
        books all(4);
        std::vector<task<>> everybody;
        if (round % 2 == 0) {
            for (int k = 0; k < 4; ++k) everybody.push_back(consume(c, all, {}));
            for (int i = 0; i < 4; ++i) all.count(std::make_unique<int>(i));
        } else {
            for (int p = 0; p < 4; ++p) everybody.push_back(produce(c, all, p, 1, {}));
        }
        std::thread closer([&] {
            for (int i = round % 5; i > 0; --i) std::this_thread::yield();
            c.close();
        });
        weir::sync_wait(pool, weir::when_all(std::move(everybody)));
        closer.join();
        drain(c, all);
        REQUIRE(all.check() == "");
    }
}

// ---- the two ends against each other ------------------------------------------------------------

namespace {

using number = std::unique_ptr<std::uint64_t>;
constexpr std::uint64_t from_one_producer = 1U << 20;  // numbers, more than it makes

// What one coroutine or thread has put or got: summed, so that nothing is shared while it works.
struct alignas(64) tally {
    std::uint64_t count = 0, sum = 0;
    bool in_order = true;  // of the items of each producer
    std::vector<std::uint64_t> next = std::vector<std::uint64_t>(4);
    void add(const number& n) {
        ++count;
        sum += *n + 1;
    }
    void arrived(const number& n) {
        add(n);
        std::uint64_t& least = next[*n / from_one_producer];
        in_order = in_order && *n % from_one_producer >= least;
        least = *n % from_one_producer + 1;
    }
    tally& operator+=(const tally& other) {
        count += other.count;
        sum += other.sum;
        in_order = in_order && other.in_order;
        return *this;
    }
};

tally all_of(const std::vector<tally>& each) {
    tally all;
    for (const tally& t : each) all += t;
    return all;
}

template <class Channel>
task<> put_numbers(Channel& c, std::uint64_t who, std::uint64_t times, tally& in,
                   std::atomic<std::uint64_t>& progress) {
    for (std::uint64_t i = 0; i < times; ++i) {
        number n = std::make_unique<std::uint64_t>(who * from_one_producer + i);
        tally one;
        one.add(n);
        const bool taken = co_await c.put(std::move(n));
        if (!taken) {
            in.in_order = in.in_order && n != nullptr;  // it is ours still
            break;
        }
        in += one;
        progress.fetch_add(1, std::memory_order_relaxed);
    }
}

template <class Channel>
task<> get_numbers(Channel& c, tally& out) {
    while (const auto n = co_await c.get()) out.arrived(*n);
}

template <class Channel>
task<> close_when_all_is_put(Channel& c, std::vector<task<>> producers) {
    co_await weir::when_all(std::move(producers));
    c.close();
}

enum class end { all_put, closed, cancelled };

// The first thing that is wrong, or nothing.
template <class Policy>
std::string two_ends(weir::thread_pool& pool, std::size_t capacity, std::size_t producers,
                     std::size_t consumers, end how) {
    constexpr std::uint64_t items = 1'200;
    const std::uint64_t each = items / producers;
    channel<number, Policy> c(capacity);
    std::vector<tally> in(producers), out(consumers);
    std::atomic<std::uint64_t> progress{0};
    std::atomic<bool> over{false};
    std::string wrong;
    std::thread outside([&] {
        std::minstd_rand random(static_cast<unsigned>(capacity));
        weir::channel_stats before = c.stats();
        while (!over) {
            const weir::channel_stats now = c.stats();
            if (now.num_put < before.num_put || now.num_get < before.num_get) {
                wrong = "a count went backwards";
            }
            if (now.num_put != now.num_get + now.num_discarded + now.size) {
                wrong = "what was put was neither got, nor discarded, nor is it inside";
            }
            if (now.size > 64 || c.size() > 64) wrong = "more is inside than had room";
            before = now;
            switch (random() % 4) {
                case 0:
                    c.set_capacity(1 + random() % 64);
                    break;
                case 1:
                    c.set_capacity(capacity);
                    break;
                default:
                    std::this_thread::yield();
            }
            if (progress < items / 2) continue;
            if (how == end::closed) c.close();
            if (how == end::cancelled) c.cancel();
        }
    });
    std::vector<task<>> puts, everybody;
    for (std::size_t p = 0; p < producers; ++p) {
        puts.push_back(put_numbers(c, p, each, in[p], progress));
    }
    for (std::size_t k = 0; k < consumers; ++k) everybody.push_back(get_numbers(c, out[k]));
    everybody.push_back(close_when_all_is_put(c, std::move(puts)));
    weir::sync_wait(pool, weir::when_all(std::move(everybody)));
    over = true;
    outside.join();

    if (!wrong.empty()) return wrong;
    const tally put = all_of(in), got = all_of(out);
    if (!put.in_order) return "a refused item was moved from";
    if (!got.in_order) return "items of one producer came out of order";
    const weir::channel_stats s = c.stats();
    if (s.num_put != put.count || s.num_get != got.count) return "the channel counts otherwise";
    if (c.try_get().status() != channel_status::closed) return "something is left";
    if (how == end::cancelled) {
        return got.count <= put.count && got.sum <= put.sum ? "" : "something came from nowhere";
    }
    if (how == end::all_put && put.count != each * producers) return "something was refused";
    return put.count == got.count && put.sum == got.sum ? "" : "items were lost or doubled";
}

}  // namespace

TEMPLATE_TEST_CASE("both ends at once, with a third thread that looks, resizes and ends it all", "",
                   weir::measured, weir::unmeasured) {
    weir::thread_pool pool(2);
    for (const std::size_t capacity : {1U, 2U, 3U, 64U}) {
        for (const auto& [producers, consumers] :
             {std::pair<std::size_t, std::size_t>{1, 1}, {1, 2}, {2, 1}, {4, 4}}) {
            for (const end how : {end::all_put, end::closed, end::cancelled}) {
                CAPTURE(capacity, producers, consumers, static_cast<int>(how));
                for (int round = 0; round < 8; ++round) {
                    REQUIRE(two_ends<TestType>(pool, capacity, producers, consumers, how) == "");
                }
            }
        }
    }
}

TEMPLATE_TEST_CASE("threads that never wait put and get, each at its end, and lose nothing", "",
                   weir::measured, weir::unmeasured) {
    for (const std::size_t capacity : {1U, 2U, 3U, 7U, 64U}) {
        for (const std::size_t threads : {1U, 2U}) {
            CAPTURE(capacity, threads);
            constexpr std::uint64_t each = 4'000;
            channel<number, TestType> c(capacity);
            std::vector<tally> in(threads), out(threads);
            std::vector<std::thread> running;
            for (std::size_t who = 0; who < threads; ++who) {
                running.emplace_back([&, who] {
                    for (std::uint64_t i = 0; i < each; ++i) {
                        number n = std::make_unique<std::uint64_t>(who * from_one_producer + i);
                        in[who].add(n);
                        while (c.try_put(std::move(n)) != channel_status::success) {
                            std::this_thread::yield();
                        }
                    }
                });
                running.emplace_back([&, who] {
                    for (;;) {
                        auto n = c.try_get();
                        if (n) out[who].arrived(*n);
                        if (n.status() == channel_status::closed) break;
                        if (!n) std::this_thread::yield();
                    }
                });
            }
            for (std::size_t i = 0; i < running.size(); i += 2) running[i].join();
            c.close();
            for (std::size_t i = 1; i < running.size(); i += 2) running[i].join();
            const tally put = all_of(in), got = all_of(out);
            CHECK(got.in_order);
            CHECK(got.count == put.count);
            CHECK(got.sum == put.sum);
            CHECK(c.size() == 0);
            CHECK(c.stats().num_get == each * threads);
        }
    }
}
