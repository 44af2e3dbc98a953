#include <weir/stages/cache.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/measure/policy.hpp>
#include <weir/run/invocation.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/shuffle.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using epoch_list = std::vector<std::pair<std::size_t, ints>>;

namespace {

// Counts its copies, and can refuse one.
class copied {
  public:
    struct book {
        int copies = 0;
        int refused = -1;
        int alive = 0;
    };
    copied(int number, book& b) : number_(number), book_(&b) { ++b.alive; }
    copied(const copied& other) : number_(other.number_), book_(other.book_) {
        if (book_->copies == book_->refused) throw std::runtime_error("no more copies");
        ++book_->copies;
        ++book_->alive;
    }
    copied(copied&& other) noexcept : number_(other.number_), book_(other.book_) { ++book_->alive; }
    copied& operator=(const copied&) = delete;
    copied& operator=(copied&&) = delete;
    ~copied() { --book_->alive; }
    int number() const { return number_; }

  private:
    int number_;
    book* book_;
};

}  // namespace

TEST_CASE("a cache gives a stream without epochs again and again, as epochs") {
    virtual_time time;
    int made = 0;
    const auto from = weir::source(std::views::iota(1, 4)) | weir::pipe([&made](int n) { return ++made, n; });
    CHECK(flows::by_epoch((from | weir::cache(3) | weir::sink()).start(time)) ==
          epoch_list{{0, {1, 2, 3}}, {1, {1, 2, 3}}, {2, {1, 2, 3}}});
    CHECK(made == 3);
    CHECK(flows::by_epoch((from | weir::cache(1) | weir::sink()).start(time)) == epoch_list{{0, {1, 2, 3}}});
    CHECK(take_all((from | weir::cache(2) | weir::sink()).start(time)) == ints{1, 2, 3, 1, 2, 3});
    auto endless = (from | weir::cache() | weir::sink()).start(time);
    CHECK(flows::by_epoch(endless, 100).size() == 100);
    CHECK(take_all((from | weir::cache(weir::endless) | weir::take(7) | weir::sink()).start(time)).size() ==
          7);
}

TEST_CASE("a cache records the first epoch of a source with epochs, and ends that") {
    virtual_time time;
    std::vector<std::uint64_t> made;
    const auto make = [&made](std::uint64_t epoch) {
        made.push_back(epoch);
        return ints{1, 2, static_cast<int>(epoch)};
    };
    auto run = (weir::source(weir::epochs(make)) | weir::cache(4) | weir::sink()).start(time);
    CHECK(flows::by_epoch(run) == epoch_list{{0, {1, 2, 0}}, {1, {1, 2, 0}}, {2, {1, 2, 0}}, {3, {1, 2, 0}}});
    CHECK(made == std::vector<std::uint64_t>{0, 1});  // it was ahead by what has room between them
    CHECK(flows::add_up(run.stats()));
}

TEST_CASE("the source ends with the first epoch, also where the cache goes on for ever") {
    virtual_time time;
    int asked = 0;
    const auto one_a_ms = [&asked]() -> weir::async_generator<int> {
        for (int n = 0; n < 5; ++n) {
            ++asked;
            co_await weir::sleep_for(1ms);
            co_yield n;
        }
    };
    auto run = (weir::source(weir::epochs(one_a_ms)) | weir::cache() | weir::sink()).start(time);
    for (int n = 0; n < 23; ++n) CHECK(run.get() == n % 5);
    CHECK(time.now() == time_point(5ms));
    time.run_until(time_point(1s));
    CHECK(asked == 6);
}

TEST_CASE("stages behind a cache see its epochs") {
    virtual_time time;
    const auto with_epoch = [](int n, const weir::invocation& call) {
        return 10 * static_cast<int>(call.epoch()) + n;
    };
    const auto from = weir::source(std::views::iota(0, 5)) | weir::cache(2);
    const weir::stage_options three = {.concurrency = 3, .output_order = weir::output_order::input};
    CHECK(take_all((from | weir::pipe(with_epoch, three) | weir::aggregate(3) | weir::sink()).start(time)) ==
          std::vector<ints>{{0, 1, 2}, {3, 4}, {10, 11, 12}, {13, 14}});
    const auto mixed = flows::by_epoch((from | weir::shuffle(10, 1) | weir::sink()).start(time));
    REQUIRE(mixed.size() == 2);
    CHECK(mixed[0].second != mixed[1].second);
    CHECK(flows::by_epoch((from | weir::cache(3) | weir::sink()).start(time)).size() == 3);
}

TEST_CASE("a cache behind a take, or of a first epoch cut short, repeats what came") {
    virtual_time time;
    const auto from = weir::source(weir::epochs(ints{1, 2, 3}));
    CHECK(flows::by_epoch((from | weir::take(2) | weir::cache(2) | weir::sink()).start(time)) ==
          epoch_list{{0, {1, 2}}, {1, {1, 2}}});
    CHECK(flows::by_epoch((weir::source(std::views::iota(0)) | weir::take(2) | weir::cache(2) | weir::sink())
                              .start(time)) == epoch_list{{0, {0, 1}}, {1, {0, 1}}});
}

TEST_CASE("an epoch of a cache that the consumer leaves early changes nothing about the next ones") {
    virtual_time time;
    auto run = (weir::source({1, 2, 3, 4, 5}) | weir::cache(3) | weir::sink(1)).start(time);
    std::vector<ints> epochs;
    for (auto& epoch : run.epochs()) {
        epochs.emplace_back();
        for (const int n : epoch) {
            epochs.back().push_back(n);
            if (n == 2 && epoch.number() == 0) break;
        }
    }
    CHECK(epochs == std::vector<ints>{{1, 2}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}});
}

TEST_CASE("who gives items to a cache that has ended doesn't wait for it") {
    virtual_time time;
    const auto pipeline =
        weir::source(std::views::iota(0, 20)) | weir::tee(weir::cache() | weir::take(2)) | weir::sink();
    CHECK(take_all(pipeline.start(time)).size() == 20);
}

TEST_CASE("a cache in which nothing came ends instead of giving nothing for ever") {
    virtual_time time;
    CHECK(flows::by_epoch((weir::source(ints{}) | weir::cache() | weir::sink()).start(time)) ==
          epoch_list{{0, {}}});
    CHECK(flows::by_epoch((weir::source(weir::epochs([] { return ints{}; })) | weir::cache() | weir::sink())
                              .start(time)) == epoch_list{{0, {}}});
}

TEST_CASE("a failure before a cache ends the run with the epoch, and nothing is repeated") {
    virtual_time time;
    const auto breaks = [](int n) {
        if (n == 3) throw std::runtime_error("3 is not wanted");
        return n;
    };
    const auto check = [&](const auto& from) {
        const auto pipeline = from | weir::pipe(breaks) | weir::cache() | weir::sink();
        const auto end = take_until_failure(pipeline.start(time));
        CHECK(end.taken == ints{1, 2});
        CHECK(end.inside == "3 is not wanted");
        auto tolerant = pipeline.start(time, {.max_failures = 2});  // the source runs ahead
        CHECK(flows::by_epoch(tolerant, 3) == epoch_list{{0, {1, 2, 4}}, {1, {1, 2, 4}}, {2, {1, 2, 4}}});
    };
    check(weir::source({1, 2, 3, 4}));
    check(weir::source(weir::epochs(ints{1, 2, 3, 4})));
    const auto ends_badly = []() -> weir::generator<int> {
        co_yield 1;
        throw std::runtime_error("no second one");
    };
    const auto end =
        take_until_failure((weir::source(ends_badly) | weir::cache() | weir::sink()).start(time));
    CHECK(end.taken == ints{1});
    CHECK(end.inside == "no second one");
}

TEST_CASE("a consumer sees no end of an epoch that a stop has cut short") {
    virtual_time time;
    weir::stop_source stop;
    std::function<void()> at_stop;
    const auto stops_early = [&stop, n = 0]() mutable -> std::optional<int> {
        if (stop.stop_requested()) return std::nullopt;  // as a source does that reads a socket
        return n++;
    };
    auto run =
        (weir::source(stops_early) | weir::cache() | weir::sink()).start(time, {.stop = stop.get_token()});
    const weir::stop_callback hears_first(stop.get_token(), [&at_stop]() noexcept { at_stop(); });
    CHECK(run.get_in_epoch() == 0);
    bool has_ended = false;
    at_stop = [&] {  // before the run hears of the stop
        while (run.get_in_epoch()) continue;
        has_ended = run.ended();
    };
    stop.request_stop();
    CHECK(has_ended);
    CHECK(run.get_in_epoch() == std::nullopt);
}

TEST_CASE("a failure behind a cache ends it") {
    virtual_time time;
    const auto breaks = [](int n, const weir::invocation& call) {
        if (call.item() == 7) throw std::runtime_error("the eighth is one too many");
        return n;
    };
    const auto end = take_until_failure(
        (weir::source({1, 2, 3}) | weir::cache() | weir::pipe(breaks) | weir::sink()).start(time));
    CHECK(end.taken == ints{1, 2, 3, 1, 2, 3, 1});
    CHECK(end.inside == "the eighth is one too many");
}

TEST_CASE("a cache copies each item once an epoch but the last, and destroys all of them") {
    copied::book book;
    const auto make = [&book](int n) { return copied(n, book); };
    {
        virtual_time time;
        const auto pipeline = [&](std::uint64_t epochs) {
            return weir::source(std::views::iota(0, 10)) | weir::pipe(make) | weir::cache(epochs) |
                   weir::pipe(&copied::number) | weir::sink();
        };
        CHECK(take_all(pipeline(4).start(time)).size() == 40);
        CHECK(book.copies == 30);
        CHECK(take_all(pipeline(1).start(time)).size() == 10);
        CHECK(book.copies == 30);
        CHECK(book.alive == 0);
        for (const int early : {0, 3, 10, 17, 31}) {
            auto run = pipeline(4).start(time);
            for (int n = 0; n < early; ++n) CHECK(run.get() == n % 10);
        }
        CHECK(book.alive == 0);
    }
}

TEST_CASE("a copy that can't be made fails the run, with the number of the item") {
    for (const int refused : {3, 13}) {
        copied::book book;
        book.refused = refused;
        virtual_time time;
        const auto pipeline = weir::source(std::views::iota(0, 10)) |
                              weir::pipe([&book](int n) { return copied(n, book); }) |
                              weir::cache(3, {.name = "c"}) | weir::pipe(&copied::number) | weir::sink();
        const auto end = take_until_failure(pipeline.start(time, {.max_failures = weir::unlimited}));
        CHECK(end.taken.size() == static_cast<std::size_t>(refused));
        REQUIRE(end.failed);
        CHECK(end.failed->stage() == "c");
        CHECK(end.failed->item() == static_cast<std::uint64_t>(refused));
        CHECK(end.inside == "no more copies");
        CHECK(book.alive == 0);
    }
}

TEST_CASE("a run with a cache has no checkpoint, and records what a sampler draws first") {
    virtual_time time;
    auto run =
        (weir::source(weir::draws(weir::sampler({.size = 5, .seed = 3}))) | weir::cache(2) | weir::sink())
            .start(time);
    const auto epochs = flows::by_epoch(run);
    REQUIRE(epochs.size() == 2);
    for (std::size_t i = 0; i < 5; ++i) CHECK(epochs[0].second.at(i).index == epochs[1].second.at(i).index);
    CHECK_THROWS_AS(run.checkpoint(), std::logic_error);
}

TEST_CASE("a cache that is paused gives nothing more, whether it records or repeats") {
    virtual_time time;
    for (const int before : {2, 6}) {
        auto run = (weir::source(std::views::iota(0, 4)) | weir::cache(3, {.capacity = 1}) | weir::sink(1))
                       .start(time);
        for (int n = 0; n < before; ++n) CHECK(run.get() == n % 4);
        run.pause();
        int more = 0;
        while (run.get(1s)) ++more;
        CHECK(more <= 4);  // two queues, and what two slots have in hand
        run.resume();
        CHECK(take_all(run).size() == static_cast<std::size_t>(12 - before - more));
        CHECK(flows::add_up(run.stats()));
        auto stopped = (weir::source(std::views::iota(0, 4)) | weir::cache() | weir::sink(1)).start(time);
        for (int n = 0; n < before; ++n) CHECK(stopped.get() == n % 4);
        stopped.pause();
        CHECK(stopped.get(1s));
        stopped.stop();
        CHECK_FALSE(stopped.get().has_value());
    }
}

TEST_CASE("a cache repeats in a run without statistics, too, and ends when that fails") {
    virtual_time time;
    const auto pipeline = weir::source({1, 2}) | weir::cache(2) | weir::sink();
    CHECK(take_all(pipeline.start<weir::unmeasured>(time)) == ints{1, 2, 1, 2});
    CHECK(take_all(pipeline.start<weir::summed>(time)) == ints{1, 2, 1, 2});
    const auto one_a_ms = [](int n) -> task<int> {
        co_await weir::sleep_for(1ms);
        co_return n;
    };
    const auto endless = weir::source({1, 2}) | weir::pipe(one_a_ms) | weir::cache() | weir::sink();
    const auto fails = [](const weir::pipeline_stats&) { throw std::runtime_error("no laps"); };
    auto run = endless.start<weir::unmeasured>(time, {.lap = 1500us, .on_lap = fails});
    const auto end = take_until_failure(run);
    CHECK(end.taken == ints{1});
    CHECK(end.inside == "no laps");
}

TEST_CASE("hooks are told of each item that a cache gives") {
    struct counting final : weir::hook {
        std::vector<std::uint64_t> epochs = {};
        void before(const weir::invocation& call) override {
            if (call.stage() == "cache#1") epochs.push_back(call.epoch());
        }
    };
    virtual_time time;
    const auto hook = std::make_shared<counting>();
    const auto pipeline = weir::source({1, 2}) | weir::cache(3) | weir::sink();
    CHECK(take_all(pipeline.start(time, {.hooks = {hook}})).size() == 6);
    CHECK(hook->epochs == std::vector<std::uint64_t>{0, 0, 1, 1, 2, 2});
}

TEST_CASE("each item that a cache gives is a task of it") {
    virtual_time time;
    auto run =
        (weir::source({1, 2}) | weir::cache(3, {.name = "c", .capacity = 9}) | weir::sink()).start(time);
    CHECK(take_all(run).size() == 6);
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).name == "c");
    CHECK(stats.stages.at(1).kind == "cache");
    CHECK(stats.stages.at(1).num_tasks == 6);
    CHECK(stats.channels.at(0).num_get == 2);
    CHECK(stats.channels.at(1).num_put == 6);
    CHECK(stats.channels.at(1).capacity == 9);
    CHECK(flows::add_up(stats));
}

TEST_CASE("a cache of no epochs, or of several slots, is refused with what to do") {
    CHECK(items::message_of([] { static_cast<void>(weir::cache(0)); }) ==
          "weir: cache(0) would give nothing at all; give it the number of epochs, with the one that it "
          "records, or none for weir::endless");
    virtual_time time;
    auto pipeline = weir::source({1}) | weir::cache() | weir::sink();
    pipeline.options("cache#1").concurrency = 2;
    CHECK_THROWS_AS(pipeline.start(time), std::invalid_argument);
    // The branches of a split, which mark the end of each part of a batch as that of an epoch.
    const auto choose = [](int) { return 0; };
    const auto batches = weir::source({1}) | weir::aggregate(1);
    const auto in_branch = batches | weir::split(choose, weir::branch("a", weir::cache(2))) | weir::sink();
    CHECK(items::message_of([&] { static_cast<void>(in_branch.start(time)); }) ==
          "weir: stage 'cache#3' is a cache in a branch of a split, where each part of a batch counts as an "
          "epoch; put it before or behind the split");
    const auto behind = batches | weir::split(choose, weir::branch("a")) | weir::cache(2) | weir::sink();
    CHECK(take_all(behind.start(time)).size() == 2);
}
