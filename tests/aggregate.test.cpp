#include <weir/aggregate.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/pipeline.hpp>
#include <weir/sleep.hpp>
#include <weir/task.hpp>
#include <weir/virtual_time.hpp>

#include <chrono>
#include <cstddef>
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
    CHECK(sizes(3, std::numeric_limits<std::size_t>::max()) == std::vector<std::size_t>{3});
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
    const auto pipeline =
        weir::source(std::views::iota(0, 7)) | weir::aggregate<picky>(4) | weir::sink();
    const auto end = take_until_failure(pipeline.start(time));
    CHECK(end.taken.size() == 1);
    REQUIRE(end.failed);
    CHECK(end.failed->item() == 6);
}

TEST_CASE("items that only move are gathered") {
    virtual_time time;
    const auto pipeline = weir::source(std::views::iota(0, 5)) |
                          weir::pipe([](int n) { return std::make_unique<int>(n); }) |
                          weir::aggregate(2) | weir::sink();
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
    auto run = (weir::source(std::views::iota(0, 6)) | weir::pipe(each_ms) | weir::aggregate(3) |
                weir::sink())
                   .start(time);
    CHECK(run.get() == ints{0, 1, 2});
    CHECK(time.now() == time_point(3ms));
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
        auto run = (weir::source(std::views::iota(0)) | weir::pipe(one_a_ms) | weir::aggregate(1000) |
                    weir::sink())
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
    CHECK(stats.stages.at(1).name == "aggregate");
    CHECK(stats.stages.at(1).kind == "aggregate");
    CHECK(stats.stages.at(1).slots.size() == 1);
    CHECK(stats.channels.at(2).name == "b");
    CHECK(stats.channels.at(2).capacity == 9);
    CHECK(take_all(run) == std::vector<std::vector<ints>>{{{1}}});
}
