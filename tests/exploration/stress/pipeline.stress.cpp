// Whole pipelines on threads: what goes in comes out once, whatever the schedule; and where it is cut
// short by a failure, a stop or a consumer that leaves, every item is destroyed once and nothing hangs.
#include <weir/stages/pipeline.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using items::ledger;
using weir::pipeline_failure;
using weir::task;
using namespace std::chrono_literals;

namespace {

using number = std::uint64_t;

// The work of five stages, once as functions of one item each, and once, below, in sequence.
number mix(number n) { return n * 0x9e3779b97f4a7c15ULL ^ (n >> 29); }
bool keeps(number n) { return n % 7 != 3; }
std::size_t copies(number n) { return n % 5 == 0 ? 2 : 1; }

std::vector<number> reference(number count) {
    std::vector<number> all;
    for (number n = 0; n < count; ++n) {
        const number kept = mix(mix(n));
        if (!keeps(kept)) continue;
        for (std::size_t i = 0; i < copies(kept); ++i) all.push_back(mix(kept + i));
    }
    return all;
}

auto five_stages(number count, std::size_t capacity) {
    const auto later = [](number n) -> task<number> {
        co_await weir::yield();
        co_return mix(n);
    };
    const auto some = [](number n) { return keeps(n) ? std::optional<number>(n) : std::nullopt; };
    const auto many = [](number n) -> weir::generator<number> {
        for (std::size_t i = 0; i < copies(n); ++i) co_yield n + i;
    };
    const auto with = [capacity](const char* name) {
        weir::stage_options o;
        o.name = name;
        o.concurrency = 4;
        o.capacity = capacity;
        return o;
    };
    return weir::source(std::views::iota(number{0}, count)) | weir::pipe(mix, with("mix")) |
           weir::pipe(later, with("later")) | weir::pipe(some, with("some")) |
           weir::pipe(many, with("many")) | weir::pipe(mix, with("mix again")) | weir::sink(capacity);
}

struct digest {
    std::size_t count = 0;
    number sum = 0;
    number x_or = 0;

    void add(number n) {
        ++count;
        sum += n;
        x_or ^= n;
    }
    bool operator==(const digest&) const = default;
};

digest digest_of(const std::vector<number>& all) {
    digest d;
    for (const number n : all) d.add(n);
    return d;
}

task<digest> consume(weir::run<number>& run) {
    digest d;
    while (const auto n = co_await run.next()) d.add(*n);
    co_return d;
}

// An item with a book-keeper and a number of its own.
class parcel {
  public:
    parcel(number n, ledger& book) : number_(n), life_(book) {}
    number id() const { return number_; }

  private:
    number number_;
    items::counted life_;
};

// Five stages of `slots` slots through which parcels pass one to one; `work` is done on each in the
// third.
template <class Work>
auto parcels(ledger& book, number count, std::size_t slots, Work work) {
    const auto same = [](parcel p) { return p; };
    const auto later = [](parcel p) -> task<parcel> {
        if (p.id() % 16 == 0) co_await weir::yield();
        co_return p;
    };
    weir::stage_options o{.concurrency = slots};
    return weir::source(std::views::iota(number{0}, count)) |
           weir::pipe([&book](number n) { return parcel(n, book); }, o) | weir::pipe(same, o) |
           weir::pipe(work, o) | weir::pipe(later, o) | weir::pipe(same, o) | weir::sink(2);
}

const auto no_work = [](parcel p) { return p; };
constexpr number endless = std::numeric_limits<number>::max();

// What a consumer got.
struct harvest {
    std::vector<number> ids;
    std::optional<pipeline_failure> failed;
};

// Takes at most `most` parcels, as a coroutine.
template <class Run>
task<harvest> take(Run& run, std::size_t most) {
    harvest all;
    try {
        while (all.ids.size() < most) {
            auto p = co_await run.next();
            if (!p) break;
            all.ids.push_back(p->id());
        }
    } catch (const pipeline_failure& e) {
        all.failed = e;
    }
    co_return all;
}

bool has_doubles(std::vector<number> ids) {
    std::ranges::sort(ids);
    return std::ranges::adjacent_find(ids) != ids.end();
}

// 0, 1, 2, ... as one slot a stage has to give.
bool is_prefix(const std::vector<number>& ids) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] != i) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("five stages of four slots give what a loop gives") {
    for (const number count : {0U, 1U, 3U, 50U, 500U}) {
        for (const unsigned workers : {1U, 2U, 4U}) {
            for (const std::size_t capacity : {1U, 2U, 16U}) {
                weir::thread_pool pool(workers);
                auto run = five_stages(count, capacity).start(pool);
                std::vector<number> got = items::take_all(run);
                std::vector<number> expected = reference(count);
                std::ranges::sort(got);
                std::ranges::sort(expected);
                CAPTURE(count, workers, capacity);
                CHECK(got == expected);
            }
        }
    }
}

TEST_CASE("many items are neither lost nor doubled on their way through five stages of four slots") {
    constexpr number count = 10'000;
    const digest expected = digest_of(reference(count));
    for (const unsigned workers : {1U, 2U, 3U, 8U}) {
        for (const std::size_t capacity : {1U, 4U}) {
            weir::thread_pool pool(workers);
            auto run = five_stages(count, capacity).start(pool);
            CAPTURE(workers, capacity);
            CHECK(weir::sync_wait(pool, consume(run)) == expected);
            const auto stats = run.stats();
            CHECK(stats.stages.at(1).num_tasks == count);
            CHECK(stats.channels.back().num_get == expected.count);
            for (const auto& queue : stats.channels) CHECK(queue.num_put == queue.num_get);
        }
    }
}

TEST_CASE("stages on pools of their own hand over to each other") {
    constexpr number count = 20'000;
    const digest expected = digest_of(reference(count));
    weir::thread_pool pool(2);
    weir::thread_pool other(1);
    weir::blocking_pool io(3);
    auto pipeline = five_stages(count, 2);
    pipeline.options("mix").executor = &io;
    pipeline.options("later").executor = &other;
    pipeline.options("many").executor = &io;
    auto run = pipeline.start(pool);
    CHECK(weir::sync_wait(other, consume(run)) == expected);
    auto again = pipeline.start(io);
    CHECK(weir::sync_wait(consume(again)) == expected);
}

TEST_CASE("runs of one pipeline at the same time don't disturb each other") {
    constexpr number count = 5'000;
    const digest expected = digest_of(reference(count));
    weir::thread_pool pool(3);
    const auto pipeline = five_stages(count, 1);
    std::vector<weir::run<number>> runs;
    for (int i = 0; i < 6; ++i) runs.push_back(pipeline.start(pool));
    std::vector<digest> results(runs.size());
    std::vector<std::thread> consumers;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        consumers.emplace_back(
            [&results, &runs, &pool, i] { results[i] = weir::sync_wait(pool, consume(runs[i])); });
    }
    for (std::thread& t : consumers) t.join();
    for (const digest& d : results) CHECK(d == expected);
}

TEST_CASE("a consumer that leaves at any item leaves nothing behind") {
    std::mt19937_64 random(7);
    weir::thread_pool pool(3);
    for (int i = 0; i < 400; ++i) {
        const std::size_t slots = i % 3 == 0 ? 1 : 4;
        const std::size_t most = random() % 300;
        ledger book(100'000);
        harvest got;
        {
            auto run = parcels(book, endless, slots, no_work).start(pool);
            got = weir::sync_wait(pool, take(run, most));
        }
        CAPTURE(i, slots, most);
        CHECK(got.ids.size() == most);
        CHECK_FALSE(has_doubles(got.ids));
        if (slots == 1) CHECK(is_prefix(got.ids));
        CHECK(book.born() >= most);
        CHECK(book.alive() == 0);
        CHECK(book.died_twice() == 0);
    }
}

TEST_CASE("a stop token that another thread pulls at any moment loses nothing before it") {
    std::mt19937_64 random(8);
    weir::thread_pool pool(2);
    for (int i = 0; i < 400; ++i) {
        const std::size_t slots = i % 3 == 0 ? 1 : 4;
        const std::size_t when = 1 + random() % 300;
        const weir::stop_source stop;
        std::atomic<std::size_t> passed{0};
        ledger book(1'000'000);
        harvest got;
        {
            const auto note = [&passed](parcel p) {
                passed.fetch_add(1);
                return p;
            };
            auto run = parcels(book, endless, slots, note).start(pool, {.stop = stop.get_token()});
            std::thread other([&] {
                while (passed < when) std::this_thread::yield();
                stop.request_stop();
            });
            got = weir::sync_wait(pool, take(run, endless));
            other.join();
        }
        CAPTURE(i, slots, when);
        CHECK_FALSE(got.failed);
        CHECK_FALSE(has_doubles(got.ids));
        if (slots == 1) CHECK(is_prefix(got.ids));
        CHECK(got.ids.size() <= book.born());
        CHECK(book.alive() == 0);
        CHECK(book.died_twice() == 0);
    }
}

TEST_CASE("a failure at any item loses nothing that was finished before it") {
    std::mt19937_64 random(9);
    weir::thread_pool pool(3);
    for (int i = 0; i < 400; ++i) {
        const std::size_t slots = i % 3 == 0 ? 1 : 4;
        const number bad = random() % 300;
        std::atomic<std::size_t> finished{0};
        std::atomic<int> told{0};
        ledger book(100'000);
        harvest got;
        {
            const auto check = [&finished, bad](parcel p) {
                if (p.id() == bad) throw std::runtime_error("this is the one");
                finished.fetch_add(1);
                return p;
            };
            auto run = parcels(book, endless, slots, check).start(pool, {.on_failure = [&told](const auto&) {
                                                                      ++told;
                                                                  }});
            got = weir::sync_wait(pool, take(run, endless));
        }
        CAPTURE(i, slots, bad);
        CHECK(told == 1);
        REQUIRE(got.failed.has_value());
        CHECK(got.failed->failures().size() == 1);
        // Every item that the third stage has finished reaches the end.
        CHECK(got.ids.size() == finished);
        CHECK_FALSE(has_doubles(got.ids));
        if (slots == 1) {
            CHECK(is_prefix(got.ids));
            CHECK(got.ids.size() == bad);
            CHECK(got.failed->item() == bad);
        }
        CHECK(book.alive() == 0);
        CHECK(book.died_twice() == 0);
    }
}

TEST_CASE("of many items each is delivered, or told of as failed, once") {
    constexpr number count = 10'000;
    weir::thread_pool pool(3);
    for (int i = 0; i < 8; ++i) {
        ledger book(2 * count);
        std::vector<std::atomic<int>> seen(count);
        const auto picky = [](parcel p) {
            if (p.id() % 10 == 7) throw std::runtime_error(std::to_string(p.id()));
            return p;
        };
        const auto on_failure = [&seen](const weir::failure& f) { ++seen[std::stoul(f.message())]; };
        harvest got;
        {
            auto run = parcels(book, count, 4, picky)
                           .start(pool, {.max_failures = weir::rate(0.5), .on_failure = on_failure});
            got = weir::sync_wait(pool, take(run, endless));
        }
        CHECK_FALSE(got.failed);
        CHECK(got.ids.size() == count / 10 * 9);
        for (const number id : got.ids) ++seen[id];
        CHECK(std::ranges::all_of(seen, [](const auto& n) { return n == 1; }));
        CHECK(book.born() == count);
        CHECK(book.alive() == 0);
        CHECK(book.died_twice() == 0);
    }
}

TEST_CASE("several stages that fail at once end the run once") {
    weir::thread_pool pool(4);
    for (int i = 0; i < 300; ++i) {
        const auto fails = [](number at) {
            return [at](number n) {
                if (n >= at) throw std::runtime_error("no");
                return n;
            };
        };
        weir::stage_options o{.concurrency = 4};
        auto run = (weir::source(std::views::iota(number{0})) | weir::pipe(fails(52), o) |
                    weir::pipe(fails(51), o) | weir::pipe(fails(50), o) | weir::sink())
                       .start(pool);
        std::size_t taken = 0;
        int thrown = 0;
        for (bool going = true; going;) {
            try {
                going = run.get().has_value();
                if (going) ++taken;
            } catch (const pipeline_failure&) {
                ++thrown;
            }
        }
        CHECK(taken <= 50);
        CHECK(thrown == 1);
    }
}

TEST_CASE("runs are started and destroyed at once, again and again") {
    weir::thread_pool pool(3);
    ledger book(1'000'000);
    const auto pipeline = parcels(book, endless, 4, no_work);
    for (int i = 0; i < 600; ++i) {
        auto run = pipeline.start(pool);
        if (i % 3 == 1) std::this_thread::yield();
        if (i % 3 == 2) run.stop();
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}
