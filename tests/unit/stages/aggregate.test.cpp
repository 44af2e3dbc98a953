#include <weir/stages/aggregate.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::duration;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

// The sizes of the batches that `count` items give.
std::vector<std::size_t> sizes(int count, std::size_t size, bool drop_last = false) {
    virtual_time time;
    const auto pipeline = weir::source(std::views::iota(0, count)) |
                          weir::aggregate(size, {.drop_last = drop_last}) | weir::sink();
    std::vector<std::size_t> all;
    int next = 0;
    auto run = pipeline.start(time);
    for (const ints& batch : run) {
        all.push_back(batch.size());
        for (const int n : batch) CHECK(n == next++);
    }
    return all;
}

class sum_of {
  public:
    explicit sum_of(const ints& all) : sum_(std::accumulate(all.begin(), all.end(), 0)) {}
    int value() const { return sum_; }

  private:
    int sum_;
};

// Refuses a batch with a 6 in it.
class picky {
  public:
    explicit picky(ints&& all) : all_(std::move(all)) {
        for (const int n : all_) {
            if (n == 6) throw std::runtime_error("6 is not wanted");
        }
    }
    std::size_t size() const { return all_.size(); }

  private:
    ints all_;
};

}  // namespace

TEST_CASE("13 items by 4 are batches of 4, 4, 4 and 1, or without the last one") {
    CHECK(sizes(13, 4) == std::vector<std::size_t>{4, 4, 4, 1});
    CHECK(sizes(13, 4, true) == std::vector<std::size_t>{4, 4, 4});
}

TEST_CASE("an exact multiple gives no empty batch behind the last one") {
    CHECK(sizes(12, 4) == std::vector<std::size_t>{4, 4, 4});
    CHECK(sizes(12, 4, true) == std::vector<std::size_t>{4, 4, 4});
}

TEST_CASE("batches of 1 are the items one by one") {
    CHECK(sizes(3, 1) == std::vector<std::size_t>{1, 1, 1});
    CHECK(sizes(3, 1, true) == std::vector<std::size_t>{1, 1, 1});
}

TEST_CASE("fewer items than a batch holds are one batch, or none") {
    CHECK(sizes(3, 4) == std::vector<std::size_t>{3});
    CHECK(sizes(3, 4, true).empty());
    CHECK(sizes(0, 4).empty());
    CHECK(sizes(3, std::numeric_limits<std::size_t>::max() / 2) == std::vector<std::size_t>{3});
}

TEST_CASE("a batch of no items is refused with what to do") {
    CHECK_THROWS_AS(weir::aggregate(0), std::invalid_argument);
    CHECK(items::message_of([] { static_cast<void>(weir::aggregate(0)); }) ==
          "weir: aggregate(0) would wait for ever for an empty batch; give it 1 or more");
}

TEST_CASE("a batch can be of any type that is made from a vector of the items") {
    virtual_time time;
    const auto sums = weir::source(std::views::iota(0, 7)) | weir::aggregate<sum_of>(3) |
                      weir::pipe(&sum_of::value) | weir::sink();
    CHECK(take_all(sums.start(time)) == ints{3, 12, 6});
    const auto optional = weir::source({1, 2, 3}) | weir::aggregate<std::optional<ints>>(2) | weir::sink();
    CHECK(take_all(optional.start(time)).at(1) == ints{3});
}

TEST_CASE("a batch that can't be made of its items fails the run behind the batches before it") {
    virtual_time time;
    const auto pipeline =
        weir::source(std::views::iota(0, 20)) | weir::aggregate<picky>(4, {.name = "batch"}) | weir::sink();
    auto run = pipeline.start(time, {.max_failures = weir::unlimited});
    const auto end = take_until_failure(run);
    CHECK(end.taken.size() == 1);
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "batch");
    CHECK(end.inside == "6 is not wanted");
    CHECK_FALSE(run.get().has_value());
}

TEST_CASE("a last batch that can't be made fails the run, too") {
    virtual_time time;
    const auto pipeline = weir::source(std::views::iota(0, 7)) | weir::aggregate<picky>(4) | weir::sink();
    const auto end = take_until_failure(pipeline.start(time));
    CHECK(end.taken.size() == 1);
    REQUIRE(end.failed);
    CHECK(end.failed->item() == 7);
}

TEST_CASE("items that only move are gathered") {
    virtual_time time;
    const auto pipeline = weir::source(std::views::iota(0, 5)) |
                          weir::pipe([](int n) { return std::make_unique<int>(n); }) | weir::aggregate(2) |
                          weir::sink();
    const auto batches = take_all(pipeline.start(time));
    REQUIRE(batches.size() == 3);
    CHECK(*batches.at(1).at(1) == 3);
    CHECK(*batches.at(2).at(0) == 4);
}

TEST_CASE("a batch is given as soon as it is full, not with the next item") {
    virtual_time time;
    const auto each_ms = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(1ms);
        co_return n;
    };
    auto run =
        (weir::source(std::views::iota(0, 6)) | weir::pipe(each_ms) | weir::aggregate(3) | weir::sink())
            .start(time);
    CHECK(run.get() == ints{0, 1, 2});
    CHECK(time.now() == time_point(3ms));
}

TEST_CASE("an aggregate with a batch that waits for room takes nothing more") {
    virtual_time time;
    auto run =
        (weir::source(std::views::iota(0, 100), {.capacity = 50}) | weir::aggregate(3, {.capacity = 1}) |
         weir::pipe([](ints batch) { return batch; }, {.name = "behind", .capacity = 1}) | weir::sink(1))
            .start(time);
    static_cast<void>(run.get());
    // What is behind the aggregate is full, and it has a batch in hand: all that it took is a multiple of a
    // batch.
    const auto stats = run.stats();
    const auto taken = stats.channels.at(0).num_get;
    CHECK(taken % 3 == 0);
    CHECK(taken <= 3 * 7);
    CHECK(stats.channels.at(0).num_put > taken + 3);
}

TEST_CASE("a batch that is dropped is destroyed") {
    items::ledger book(10);
    {
        virtual_time time;
        auto run = (weir::source(std::views::iota(0, 10)) |
                    weir::pipe([&book](int) { return items::counted(book); }) |
                    weir::aggregate(4, {.drop_last = true}) | weir::sink())
                       .start(time);
        CHECK(run.get().has_value());
        CHECK(run.get().has_value());
        CHECK_FALSE(run.get().has_value());
        CHECK(book.born() == 10);
        CHECK(book.alive() == 0);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("what is gathered when the run is destroyed is destroyed with it") {
    items::ledger book(10);
    {
        virtual_time time;
        const auto one_a_ms = [&book](int) -> weir::task<items::counted> {
            co_await weir::sleep_for(1ms);
            co_return items::counted(book);
        };
        auto run =
            (weir::source(std::views::iota(0)) | weir::pipe(one_a_ms) | weir::aggregate(1000) | weir::sink())
                .start(time);
        CHECK(run.get(6ms).status() == weir::channel_status::timed_out);
        CHECK(book.alive() == 5);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("each item that goes into a batch is a task of the stage") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 10)) | weir::aggregate(4) | weir::sink()).start(time);
    CHECK(take_all(run).size() == 3);
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).num_tasks == 10);
    CHECK(stats.channels.at(1).num_put == 3);
}

TEST_CASE("an aggregate has its own name and capacity, and one slot") {
    virtual_time time;
    auto run = (weir::source({1}) | weir::aggregate(2) | weir::aggregate(2, {.name = "b", .capacity = 9}) |
                weir::sink())
                   .start(time);
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).name == "aggregate#1");
    CHECK(stats.stages.at(1).kind == "aggregate");
    CHECK(stats.stages.at(1).per_slot.size() == 1);
    CHECK(stats.channels.at(2).name == "b");
    CHECK(stats.channels.at(2).capacity == 9);
    CHECK(take_all(run) == std::vector<std::vector<ints>>{{{1}}});
}

namespace {

// Items with the times at which they come, in ms; a batch with the time at which it was given.
struct timed {
    duration at;
    ints items;
    bool operator==(const timed&) const = default;
};

// Item n comes at times[n] ms; then the stream ends at `end`, or with the last item.
auto coming_at(std::vector<int> times, int end = 0) {
    return weir::source([times, end]() -> weir::async_generator<int> {
        int now = 0;
        for (std::size_t n = 0; n < times.size(); ++n) {
            co_await weir::sleep_for((times[n] - now) * 1ms);
            now = times[n];
            co_yield static_cast<int>(n);
        }
        co_await weir::sleep_for(std::max(0, end - now) * 1ms);
    });
}

template <class Stage>
std::vector<timed> batches_of(std::vector<int> times, int end, Stage stage) {
    virtual_time time;
    auto run = (coming_at(std::move(times), end) | std::move(stage) | weir::sink()).start(time);
    std::vector<timed> all;
    while (auto batch = run.get()) all.push_back({time.now().time_since_epoch(), std::move(*batch)});
    // Nothing is left to ring.
    const time_point last = time.now();
    time.run();
    CHECK(time.now() == last);
    for (const auto& stage_stats : run.stats().stages) {
        CHECK(stage_stats.times().total() == stage_stats.elapsed);
    }
    return all;
}

using timed_list = std::vector<timed>;

// Words until they have so many letters together.
class by_letters {
  public:
    explicit by_letters(std::size_t letters) : letters_(letters) {}
    std::optional<std::string> accumulate(const std::string& word) {
        text_ += word;
        if (text_.size() < letters_) return std::nullopt;
        return std::exchange(text_, {});
    }
    std::optional<std::string> flush() {
        if (text_.empty()) return std::nullopt;
        return std::exchange(text_, {});
    }

  private:
    std::size_t letters_;
    std::string text_;
};

}  // namespace

TEST_CASE("a batch waits for so long from its first item on, and is given though nothing more comes") {
    const auto stage = weir::aggregate(3, {.max_delay = 10ms});
    // 0 to 2 fill a batch at 4; 3 and 4 are given at 15; 5 at the end of its time, 110; 6 at the end of all.
    CHECK(batches_of({0, 2, 4, 5, 14, 100, 200}, 205, stage) ==
          timed_list{{4ms, {0, 1, 2}}, {15ms, {3, 4}}, {110ms, {5}}, {205ms, {6}}});
    // An item at the very end of the time is one too late, or in time; not lost.
    const auto edge = batches_of({0, 10, 20}, 50, stage);
    std::size_t items = 0;
    for (const timed& t : edge) items += t.items.size();
    CHECK(items == 3);
    CHECK(edge.front().at == 10ms);
}

TEST_CASE("what comes within a time of the first item of a batch is gathered") {
    CHECK(batches_of({1, 3, 10, 12, 30, 31, 32, 33}, 100, weir::aggregate_for(10ms)) ==
          timed_list{{11ms, {0, 1, 2}}, {22ms, {3}}, {40ms, {4, 5, 6, 7}}});
    CHECK(batches_of({}, 100, weir::aggregate_for(10ms)).empty());
    CHECK(batches_of({5}, 6, weir::aggregate_for(10ms)) == timed_list{{6ms, {0}}});
}

TEST_CASE("a batch whose time is over is given also where one at the end would be dropped") {
    CHECK(batches_of({0, 1, 20}, 25, weir::aggregate(4, {.drop_last = true, .max_delay = 10ms})) ==
          timed_list{{10ms, {0, 1}}});
}

TEST_CASE("the time of a batch counts from its first item, also if the one before had to wait for room") {
    virtual_time time;
    // A batch holds up to a weight of 2; the third item begins the second batch at 2, when there is no room.
    auto run = (coming_at({0, 1, 2, 3, 4}, 1000) |
                weir::aggregate_by_weight(2, [](int) { return 1U; }, {.max_delay = 10ms, .capacity = 1}) |
                weir::pipe(
                    [](ints batch) -> weir::task<ints> {
                        co_await weir::sleep_for(6ms);
                        co_return batch;
                    },
                    {.capacity = 1}) |
                weir::sink(1))
                   .start(time);
    CHECK(run.get() == ints{0, 1});
    CHECK(time.now() == time_point(7ms));
    CHECK(run.get() == ints{2, 3});
    CHECK(time.now() == time_point(13ms));
    CHECK(run.get() == ints{4});
    CHECK(time.now() == time_point(20ms));  // 4, 10 and 6

    // The item that makes a batch too heavy begins the next one, while that waits for room.
    virtual_time other;
    auto heavy = (coming_at({0, 0, 0, 1}, 1000) |
                  weir::aggregate_by_weight(10, [](int) { return 6U; }, {.max_delay = 50ms, .capacity = 1}) |
                  weir::pipe(
                      [](ints batch) -> weir::task<ints> {
                          co_await weir::sleep_for(batch.front() == 0 ? 30ms : 1ms);
                          co_return batch;
                      },
                      {.capacity = 1}) |
                  weir::sink(1))
                     .start(other);
    std::vector<duration> at;
    for (const ints& batch : heavy) {
        CHECK(batch.size() == 1);
        at.push_back(other.now().time_since_epoch());
    }
    // {2} waits for room from 1 to 30; then {3}, which came at 1, has until 51.
    CHECK(at == std::vector<duration>{30ms, 31ms, 32ms, 52ms});
}

TEST_CASE("a time that is over while an item is held up is not forgotten") {
    virtual_time time;
    auto run =
        (coming_at({0, 5, 60}, 1000) | weir::aggregate(10, {.max_delay = 10ms}) | weir::sink()).start(time);
    time.run_until(time_point(2ms));
    run.pause();
    time.run_until(time_point(30ms));  // item 1 is in hand from 5 on, and the batch was due at 10
    run.resume();
    CHECK(run.get() == ints{0, 1});
    CHECK(time.now() == time_point(30ms));
    CHECK(run.get() == ints{2});
}

TEST_CASE("the time of a batch that was dropped at the end of its epoch doesn't ring in the next") {
    virtual_time time;
    const auto make = [](std::uint64_t e) -> weir::async_generator<int> {
        if (e == 0) {
            co_yield 0;
        } else {
            for (int i = 1; i < 3; ++i) {
                co_await weir::sleep_for(6ms);
                co_yield i;
            }
        }
    };
    auto run = (weir::source(weir::epochs(make, 2)) |
                weir::aggregate(2, {.drop_last = true, .max_delay = 10ms}) | weir::sink())
                   .start(time);
    timed_list all;
    while (auto batch = run.get()) all.push_back({time.now().time_since_epoch(), *batch});
    CHECK(all == timed_list{{12ms, {1, 2}}});
}

TEST_CASE("a change of the concurrency to what it is doesn't let a batch wait for longer") {
    virtual_time time;
    auto run =
        (coming_at({0, 5}, 1000) | weir::aggregate(10, {.max_delay = 10ms}) | weir::sink()).start(time);
    for (int ms = 1; ms < 10; ++ms) {
        time.run_until(time_point(ms * 1ms));
        run.set_concurrency("aggregate#1", 1);
    }
    CHECK(run.get() == ints{0, 1});
    CHECK(time.now() == time_point(10ms));

    // Nor when the time is over, and the stage can't see it yet.
    virtual_time other;
    auto held_up =
        (coming_at({0, 5}, 1000) | weir::aggregate(10, {.max_delay = 10ms}) | weir::sink()).start(other);
    other.run_until(time_point(2ms));
    held_up.pause();
    other.run_until(time_point(20ms));
    held_up.set_concurrency("aggregate#1", 1);
    held_up.resume();
    CHECK(held_up.get() == ints{0, 1});
    CHECK(other.now() == time_point(20ms));
}

TEST_CASE("each epoch's batches have their time, and none is left to ring in the next") {
    virtual_time time;
    const auto make = [](std::uint64_t e) -> weir::async_generator<int> {
        for (int i = 0; i < 3; ++i) {
            co_yield static_cast<int>(e) * 10 + i;
            co_await weir::sleep_for(4ms);
        }
    };
    auto run = (weir::source(weir::epochs(make, 2)) | weir::aggregate(10, {.max_delay = 10ms}) | weir::sink())
                   .start(time);
    timed_list all;
    while (auto batch = run.get()) all.push_back({time.now().time_since_epoch(), *batch});
    CHECK(all == timed_list{{10ms, {0, 1, 2}}, {22ms, {10, 11, 12}}});
}

TEST_CASE("batches by weight are given before they are too heavy, or when they have the weight") {
    virtual_time time;
    const auto batches = [&](std::vector<int> weights, std::uint64_t most, weir::aggregate_options o = {}) {
        return take_all((weir::source(std::move(weights)) |
                         weir::aggregate_by_weight(
                             most, [](int n) { return n; }, o) |
                         weir::sink())
                            .start(time));
    };
    using lists = std::vector<ints>;
    CHECK(batches({3, 3, 3, 4, 6, 1, 1}, 10) == lists{{3, 3, 3}, {4, 6}, {1, 1}});
    CHECK(batches({3, 3, 3, 4, 6, 1, 1}, 10, {.drop_last = true}) == lists{{3, 3, 3}, {4, 6}});
    // What is too heavy alone is a batch of its own.
    CHECK(batches({1, 50, 1, 10, 1}, 10) == lists{{1}, {50}, {1}, {10}, {1}});
    CHECK(batches({50}, 10) == lists{{50}});
    CHECK(batches({}, 10).empty());
    CHECK(batches({0, 0, 0, 5, 5, 0}, 10) == lists{{0, 0, 0, 5, 5}, {0}});
    CHECK(batches({1, 2, 3}, 0) == lists{{1}, {2}, {3}});
    CHECK(batches({1, 2, 3}, INT64_MAX) == lists{{1, 2, 3}});
    // Weights that no number can hold.
    const auto heavy = [](int) { return UINT64_MAX - 1; };
    CHECK(take_all((weir::source({1, 2, 3}) | weir::aggregate_by_weight(INT64_MAX, heavy) | weir::sink())
                       .start(time)) == lists{{1}, {2}, {3}});
    const auto end = take_until_failure(
        (weir::source({1, -1, 2}) | weir::aggregate_by_weight(1, [](int n) { return n; }) | weir::sink())
            .start(time));
    REQUIRE(end.failed);
    CHECK(end.inside == "weir: an item of an aggregate has a negative weight");
    CHECK(end.taken == lists{{1}});
}

TEST_CASE("a batch by weight is given when it has the weight, not with the next item") {
    CHECK(batches_of({1, 2, 3, 50}, 100, weir::aggregate_by_weight(3, [](int) { return 1U; })) ==
          timed_list{{3ms, {0, 1, 2}}, {100ms, {3}}});
}

TEST_CASE("an aggregator of one's own decides what is a batch") {
    virtual_time time;
    const std::vector<std::string> words = {"a", "bb", "ccc", "dddd", "e", "ff", "ggg", "h"};
    const auto texts = [&](auto source, bool drop_last) {
        return take_all(
            (std::move(source) | weir::aggregate(by_letters(8), {.drop_last = drop_last}) | weir::sink())
                .start(time));
    };
    CHECK(texts(weir::source(words), false) == std::vector<std::string>{"abbcccdddd", "effgggh"});
    CHECK(texts(weir::source(words), true) == std::vector<std::string>{"abbcccdddd"});
    // Anew at the end of each epoch, and in each run.
    CHECK(texts(weir::source(weir::epochs(words, 2)), false) ==
          std::vector<std::string>{"abbcccdddd", "effgggh", "abbcccdddd", "effgggh"});
    CHECK(texts(weir::source(weir::epochs(words, 2)), true) ==
          std::vector<std::string>{"abbcccdddd", "abbcccdddd"});
    const auto stage = weir::aggregate(by_letters(8), {.name = "text", .capacity = 7});
    auto run = (weir::source(words) | stage | weir::sink()).start(time);
    CHECK(run.stats().channels.at(1).capacity == 7);
    CHECK(run.stages().at(1) == "text");
}

TEST_CASE("an aggregator's exception fails the run behind the batches before it") {
    struct fails {
        int n = 0;
        bool at_flush;
        explicit fails(bool f) : at_flush(f) {}
        std::optional<int> accumulate(int i) {
            if (++n == 3 && !at_flush) throw std::runtime_error("three");
            return i;
        }
        std::optional<int> flush() {
            if (at_flush) throw std::runtime_error("the rest");
            return std::nullopt;
        }
    };
    virtual_time time;
    const auto end =
        take_until_failure((weir::source({5, 6, 7, 8}) | weir::aggregate(fails(false)) | weir::sink())
                               .start(time, {.max_failures = weir::unlimited}));
    CHECK(end.taken == ints{5, 6});
    CHECK(end.inside == "three");
    REQUIRE(end.failed);
    CHECK(end.failed->item() == 2);
    const auto late = take_until_failure(
        (weir::source(weir::epochs(ints{5, 6}, 2)) | weir::aggregate(fails(true)) | weir::sink())
            .start(time));
    CHECK(late.taken == ints{5, 6});
    CHECK(late.inside == "the rest");
    REQUIRE(late.failed);
    CHECK(late.failed->item() == 2);  // how many it was given
    const auto none =
        take_until_failure((weir::source(ints{}) | weir::aggregate(fails(true)) | weir::sink()).start(time));
    REQUIRE(none.failed);
    CHECK(none.failed->item() == 0);
}

TEST_CASE("an aggregator can keep the item that it was given with a batch for the next one") {
    // Batches of equal tens.
    struct by_tens {
        std::vector<weir::draw> held;
        bool keeps = false;
        std::optional<std::vector<weir::draw>> accumulate(weir::draw d) {
            std::optional<std::vector<weir::draw>> full;
            if (!held.empty() && held.front().position / 3 != d.position / 3) full = std::exchange(held, {});
            keeps = full.has_value();
            held.push_back(d);
            return full;
        }
        std::optional<std::vector<weir::draw>> flush() {
            if (held.empty()) return std::nullopt;
            return std::exchange(held, {});
        }
        bool keeps_last() const { return keeps; }
    };
    virtual_time time;
    auto run = (weir::source(weir::draws(weir::sampler({.size = 8, .shuffle = false}), 1)) |
                weir::aggregate(by_tens{}) | weir::sink())
                   .start(time);
    std::vector<std::uint64_t> marks;
    for (const auto& batch : run) {
        marks.push_back(run.checkpoint().watermark());
        CHECK(batch.back().position + 1 == marks.back());
    }
    CHECK(marks == std::vector<std::uint64_t>{3, 6, 8});
}

TEST_CASE(
    "an aggregator that holds items behind its last batch gives them in their own epoch, and has no "
    "checkpoint") {
    struct evens_first {
        ints odd;
        std::optional<ints> accumulate(int n) {
            if (n % 2 == 0) return ints{n};
            odd.push_back(n);
            return std::nullopt;
        }
        std::optional<ints> flush() { return std::exchange(odd, {}); }
    };
    virtual_time time;
    auto run = (weir::source(weir::draws(weir::sampler({.size = 3, .shuffle = false}), 2)) |
                weir::pipe([](weir::draw d) { return static_cast<int>(d.index); }) |
                weir::aggregate(evens_first{}) | weir::pipe([](ints b) { return b; }) | weir::sink())
                   .start(time);
    CHECK(
        items::contains(items::message_of([&] { static_cast<void>(run.checkpoint()); }),
                        "weir: this run has no checkpoint: stage 'aggregate#2' may hold items longer than"));
    CHECK(take_all(run) == std::vector<ints>{{0}, {2}, {1}, {0}, {2}, {1}, {}});
}

TEST_CASE("times that no aggregate can have are refused with what to do") {
    CHECK(items::message_of([] { static_cast<void>(weir::aggregate(2, {.max_delay = -1ns})); }) ==
          "weir: the max_delay of an aggregate can't be negative; 0 means that it waits for a full batch");
    CHECK(items::message_of([] { static_cast<void>(weir::aggregate_for(0ns)); }) ==
          "weir: aggregate_for gathers for a time, which has to be more than 0");
    CHECK(items::message_of([] { static_cast<void>(weir::aggregate(by_letters(1), {.max_delay = 1ns})); }) ==
          "weir: an aggregator of one's own has no max_delay: only a batch by number or by weight can be "
          "given before it is full");
}

TEST_CASE("on a pool batches are given in time or full, and no item is lost between the two") {
    weir::thread_pool pool(2);
    const auto waits = [](int n) -> weir::task<int> {
        if (n % 7 == 0) co_await weir::sleep_for(20us);
        co_return n;
    };
    const auto pipeline = weir::source(std::views::iota(0, 3000)) | weir::pipe(waits) |
                          weir::aggregate(5, {.max_delay = 15us}) | weir::sink();
    int next = 0;
    const auto check = [&next](const ints& batch) {
        if (batch.empty() || batch.size() > 5) FAIL("a batch of " << batch.size());
        for (const int n : batch) {
            if (n != next++) FAIL(n << " is not at its place");
        }
    };
    auto run = pipeline.start(pool);
    for (const ints& batch : run) check(batch);
    CHECK(next == 3000);
    next = 0;
    auto plain = pipeline.start<weir::unmeasured>(pool);
    for (const ints& batch : plain) check(batch);
    CHECK(next == 3000);
}

TEST_CASE("a rest that lacks what a function gave up because of a stop is not dropped for a checkpoint") {
    virtual_time time;
    const weir::stop_source asks;
    const auto token = asks.get_token();
    const auto gives_up = weir::pipe([token](weir::draw d) -> weir::task<std::optional<weir::draw>> {
        co_await weir::sleep_for(1ms);
        if (d.position == 0 && token.stop_requested()) co_return std::nullopt;
        co_return d;
    });
    auto run = (weir::source(weir::draws(weir::sampler({.size = 2, .shuffle = false}), 1)) | gives_up |
                weir::aggregate(2, true) | weir::sink())
                   .start(time, {.stop = token});
    bool took = true;
    const auto goes_on = [&]() noexcept { took = run.get(1s).status() == weir::channel_status::success; };
    const weir::stop_callback first(token, goes_on);  // the run hears of the stop later
    asks.request_stop();
    run.stop();
    CHECK_FALSE(took);
    CHECK(run.checkpoint().watermark() == 0);
    CHECK(run.checkpoint().ahead().empty());
}
