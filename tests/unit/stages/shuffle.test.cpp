#include <weir/stages/shuffle.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::sorted;
using items::take_all;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using epoch_list = std::vector<std::pair<std::size_t, ints>>;

namespace {

ints first(int n) {
    ints all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

ints shuffled(int n, std::size_t buffer, std::uint64_t seed) {
    virtual_time time;
    const auto pipeline = weir::source(first(n)) | weir::shuffle(buffer, seed) | weir::sink();
    return take_all(pipeline.start(time));
}

epoch_list shuffled_epochs(int n, std::size_t buffer, std::uint64_t seed, std::uint64_t epochs) {
    virtual_time time;
    const auto pipeline =
        weir::source(weir::epochs(first(n), epochs)) | weir::shuffle(buffer, seed) | weir::sink();
    return flows::by_epoch(pipeline.start(time));
}

// Moves into a new place, and is never assigned to.
class fixed {
  public:
    explicit fixed(int n) : number_(n) {}
    fixed(fixed&&) noexcept = default;
    fixed& operator=(fixed&&) = delete;
    ~fixed() = default;
    int number() const { return number_; }

  private:
    const int number_;
};

}  // namespace

TEST_CASE("a shuffle gives each item once, in an order that the seed decides") {
    for (const std::size_t buffer : {1U, 2U, 7U, 99U, 100U, 1000U}) {
        CAPTURE(buffer);
        CHECK(sorted(shuffled(100, buffer, 7)) == first(100));
        CHECK(shuffled(100, buffer, 7) == shuffled(100, buffer, 7));
        if (buffer > 1) CHECK(shuffled(100, buffer, 7) != shuffled(100, buffer, 8));
    }
    CHECK(shuffled(100, 1, 7) == first(100));
    CHECK(shuffled(0, 5, 7).empty());
    CHECK(shuffled(1, 5, 7) == ints{0});
}

TEST_CASE("the order is the same on every platform and in every version") {
    CHECK(shuffled(12, 4, 42) == ints{1, 3, 0, 2, 4, 6, 9, 8, 5, 11, 7, 10});
    CHECK(shuffled(12, 100, 42) == ints{4, 10, 0, 5, 3, 1, 9, 6, 7, 11, 2, 8});
}

TEST_CASE("an item leaves at most a buffer earlier than it came") {
    const ints order = shuffled(1000, 20, 3);
    for (int place = 0; place < 1000; ++place) CHECK(order.at(static_cast<std::size_t>(place)) <= place + 20);
}

TEST_CASE("with a buffer for all, each order is as likely as the other") {
    std::map<ints, int> seen;
    for (std::uint64_t seed = 0; seed < 2400; ++seed) ++seen[shuffled(4, 4, seed)];
    CHECK(seen.size() == 24);
    double chi_squared = 0;
    for (const auto& [order, times] : seen) chi_squared += (times - 100) * (times - 100) / 100.0;
    CHECK(chi_squared < 49.7);  // one in a thousand, of 23 degrees of freedom
}

TEST_CASE("numbers below a bound have no bias, however great the bound") {
    weir::detail::epoch_numbers random(1);
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{3}, UINT64_MAX / 3 * 2}) {
        for (int i = 0; i < 100; ++i) CHECK(random.below(n) < n);
    }
    // Of a bound of two thirds of all numbers, a plain scaling would give every second one twice as often.
    int of_three[3] = {};
    for (int i = 0; i < 3000; ++i) ++of_three[random.below(UINT64_MAX / 3 * 2) % 3];
    for (const int times : of_three) CHECK(std::abs(times - 1000) < 120);
}

TEST_CASE("each epoch has an order of its own, the same in each run, and no epochs are mixed") {
    for (const std::size_t buffer : {5U, 30U, 100U}) {
        const epoch_list all = shuffled_epochs(30, buffer, 9, 4);
        REQUIRE(all.size() == 4);
        for (std::size_t e = 0; e < 4; ++e) {
            CHECK(all[e].first == e);
            CHECK(sorted(all[e].second) == first(30));
            for (std::size_t other = 0; other < e; ++other) CHECK(all[e].second != all[other].second);
        }
        CHECK(all == shuffled_epochs(30, buffer, 9, 4));
        CHECK(all != shuffled_epochs(30, buffer, 10, 4));
        CHECK(all[0].second == shuffled(30, buffer, 9));
    }
}

TEST_CASE("an epoch that the consumer leaves early changes nothing about the order of the next ones") {
    virtual_time time;
    const auto epoch = [](std::uint64_t) { return first(30); };
    auto run = (weir::source(weir::epochs(epoch, 4)) | weir::shuffle(8, 9) | weir::sink()).start(time);
    const epoch_list whole = shuffled_epochs(30, 8, 9, 4);
    for (auto& e : run.epochs()) {
        ints taken;
        for (const int n : e) {
            taken.push_back(n);
            if (e.number() % 2 == 0 && taken.size() == 7) break;
        }
        const ints& order = whole.at(e.number()).second;
        CHECK(taken == ints(order.begin(), order.begin() + (e.number() % 2 == 0 ? 7 : 30)));
    }
    CHECK(run.ended());
}

TEST_CASE("the order of an epoch doesn't depend on those before it") {
    virtual_time time;
    const auto from_three = [](std::uint64_t epoch) { return epoch == 3 ? first(30) : ints{}; };
    const auto pipeline = weir::source(weir::epochs(from_three, 4)) | weir::shuffle(8, 9) | weir::sink();
    CHECK(flows::by_epoch(pipeline.start(time)).at(3) == shuffled_epochs(30, 8, 9, 4).at(3));
}

TEST_CASE("a shuffle holds its buffer back, and no more") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0)) | weir::shuffle(10, 1, {.capacity = 1}) | weir::sink(1))
                   .start(time);
    CHECK(run.get().has_value());
    time.run_until(time.now() + 1ms);
    const auto stats = run.stats();
    CHECK(stats.channels.at(0).num_get - stats.channels.at(1).num_put == 11);  // one waits for room
    CHECK(flows::add_up(stats));
}

TEST_CASE("a shuffle takes items that only move into new places") {
    virtual_time time;
    const auto pipeline = weir::source(first(20)) | weir::pipe([](int n) { return fixed(n); }) |
                          weir::shuffle(6, 2) | weir::pipe(&fixed::number) | weir::sink();
    CHECK(take_all(pipeline.start(time)) == shuffled(20, 6, 2));
}

TEST_CASE("what a shuffle holds when the run is destroyed is destroyed with it, once") {
    items::ledger book(100);
    {
        virtual_time time;
        auto run =
            (weir::source(std::views::iota(0, 100)) |
             weir::pipe([&book](int) { return items::counted(book); }) | weir::shuffle(20) | weir::sink())
                .start(time);
        for (int n = 0; n < 10; ++n) CHECK(run.get().has_value());
        CHECK(book.alive() > 20);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("a shuffle loses no item of a checkpoint") {
    virtual_time time;
    auto run =
        (weir::source(weir::draws(weir::sampler({.size = 50}), 2)) | weir::shuffle(10, 4) | weir::sink())
            .start(time);
    std::vector<std::uint64_t> taken;
    for (int i = 0; i < 70; ++i) taken.push_back(run.get()->position);
    const auto saved = run.checkpoint();
    std::uint64_t below = 0;
    while (std::ranges::count(taken, below) == 1) ++below;
    CHECK(saved.watermark() == below);
    CHECK(saved.ahead().size() == 70 - below);
}

TEST_CASE("a shuffle of no places, or of several slots, is refused with what to do") {
    CHECK(items::message_of([] { static_cast<void>(weir::shuffle(0)); }) ==
          "weir: shuffle(0) has no place to hold an item back; give it 1 or more");
    virtual_time time;
    auto pipeline = weir::source({1}) | weir::shuffle(5) | weir::sink();
    pipeline.options("shuffle#1").concurrency = 2;
    CHECK_THROWS_AS(pipeline.start(time), std::invalid_argument);
}

TEST_CASE("a shuffle's queue has the capacity that was asked for") {
    virtual_time time;
    auto run = (weir::source(first(3)) | weir::shuffle(4, 1, {.capacity = 7}) | weir::sink()).start(time);
    CHECK(run.stats().channels.at(1).capacity == 7);
}

TEST_CASE("each item is a task of the shuffle") {
    virtual_time time;
    auto run = (weir::source(first(10)) | weir::shuffle(4, 1, {.name = "mix"}) | weir::sink()).start(time);
    CHECK(take_all(run).size() == 10);
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).name == "mix");
    CHECK(stats.stages.at(1).kind == "shuffle");
    CHECK(stats.stages.at(1).num_tasks == 10);
    CHECK(flows::add_up(stats));
}
