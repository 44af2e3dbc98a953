#include <weir/stages/filter.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/run/invocation.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
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

bool is_odd(const int& n) { return n % 2 == 1; }

// Takes the longer the smaller the item.
task<bool> is_odd_later(int n) {
    co_await weir::sleep_for((10 - n) * 1ms);
    co_return n % 2 == 1;
}

struct light {
    bool on;
    bool is_on() const { return on; }
};

template <class Predicate>
ints kept(Predicate predicate, weir::stage_options options = {}) {
    virtual_time time;
    const auto pipeline =
        weir::source(std::views::iota(0, 10)) | weir::filter(predicate, std::move(options)) | weir::sink();
    return take_all(pipeline.start(time));
}

}  // namespace

TEST_CASE("a filter keeps the items for which its predicate is true") {
    const ints odd = {1, 3, 5, 7, 9};
    CHECK(kept(is_odd) == odd);
    CHECK(kept([](int n) { return n % 2 == 1; }) == odd);
    CHECK(kept([](const auto& n) { return n % 2; }) == odd);
    CHECK(kept(is_odd_later) == odd);
    CHECK(kept([](int n) { return weir::sleep_for(n * 1ms); }).size() == 10);
    CHECK(kept([](int) { return false; }).empty());
    CHECK(kept([](int) { return true; }).size() == 10);
}

TEST_CASE("a filter's predicate may be a member of the items, true or not") {
    virtual_time time;
    const std::vector<light> lights = {{true}, {false}, {true}};
    CHECK(take_all((weir::source(lights) | weir::filter(&light::is_on) | weir::sink()).start(time)).size() ==
          2);
    CHECK(take_all((weir::source(lights) | weir::filter(&light::on) | weir::sink()).start(time)).size() == 2);
    CHECK(take_all((weir::source(std::vector<bool>{true, false}) | weir::filter([](bool b) { return b; }) |
                    weir::sink())
                       .start(time)) == std::vector<bool>{true});
}

TEST_CASE("a filter's predicate may ask which item it is") {
    CHECK(kept([](int, const weir::invocation& call) { return call.item() < 3; }) == ints{0, 1, 2});
    CHECK(kept([](int, const weir::invocation& call) -> task<bool> {
              co_await weir::sleep_for(1ms);
              co_return call.item() < 3;
          }) == ints{0, 1, 2});
}

TEST_CASE("each slot of a filter may have a predicate of its own") {
    CHECK(kept(weir::per_slot([] { return [seen = 0](int) mutable { return seen++ < 2; }; })) == ints{0, 1});
}

TEST_CASE("with several slots a filter gives items as they are done, or in the order of its input") {
    CHECK(kept(is_odd_later, {.concurrency = 10}) == ints{9, 7, 5, 3, 1});
    CHECK(kept(is_odd_later, {.concurrency = 10, .output_order = weir::output_order::input}) ==
          ints{1, 3, 5, 7, 9});
}

TEST_CASE("a filter is a pipe with a name of its own, whose times add up") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 10)) | weir::filter(is_odd_later, {.concurrency = 3}) |
                weir::sink())
                   .start(time);
    CHECK(take_all(run).size() == 5);
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).name == "filter#1");
    CHECK(stats.stages.at(1).kind == "pipe");
    CHECK(stats.stages.at(1).num_tasks == 10);
    CHECK(stats.channels.at(1).num_put == 5);
    CHECK(flows::add_up(stats));
}

TEST_CASE("a filter keeps epochs apart, also those of which it lets nothing pass") {
    const auto from =
        weir::source(weir::epochs([](std::uint64_t e) { return ints{1, 2, static_cast<int>(e)}; }, 3));
    const epoch_list expected = {{0, {2}}, {1, {2}}, {2, {2, 2}}};
    virtual_time time;
    const auto even = [](int n) { return n == 2; };
    CHECK(flows::by_epoch((from | weir::filter(even) | weir::sink()).start(time)) == expected);
    const auto even_later = [](int n) -> task<bool> {
        co_await weir::sleep_for(n * 1ms);
        co_return n == 2;
    };
    auto run = (from | weir::filter(even_later, {.concurrency = 4}) | weir::sink()).start(time);
    CHECK(flows::by_epoch(run) == expected);
    CHECK(flows::add_up(run.stats()));
    CHECK(flows::by_epoch((from | weir::filter([](int) { return false; }) | weir::sink()).start(time)) ==
          epoch_list{{0, {}}, {1, {}}, {2, {}}});
}

TEST_CASE("for a checkpoint an item that a filter drops is done with") {
    virtual_time time;
    auto run = (weir::source(weir::draws(weir::sampler({.size = 10}), 1)) |
                weir::filter([](const weir::draw& d) { return d.index < 3; }) | weir::sink())
                   .start(time);
    CHECK(take_all(run).size() == 3);
    CHECK(run.checkpoint().watermark() == 10);
}

TEST_CASE("what a predicate that was cut short by a stop has dropped is no item of a checkpoint") {
    for (const bool by_token : {false, true}) {
        virtual_time time;
        const weir::stop_source asks;
        // By the run's stop, or by the token that it was given, of which it knows later.
        const auto token = asks.get_token();
        const auto predicate = [by_token, token](const weir::draw&,
                                                 const weir::invocation& call) -> task<bool> {
            auto pause = weir::sleep_for(1s, by_token ? token : call.stop());
            const bool whole = co_await std::move(pause);
            co_return whole;
        };
        auto run = (weir::source(weir::draws(weir::sampler({.size = 3, .shuffle = false}), 1)) |
                    weir::filter(predicate) | weir::sink())
                       .start(time, {.stop = token});
        CHECK(run.get());
        time.run_until(time.now() + 1ms);
        if (by_token) {
            asks.request_stop();
            time.run_until(time.now() + 1ms);
        }
        run.stop();
        CHECK(run.checkpoint().watermark() == 1);
        CHECK(run.checkpoint().ahead().empty());
    }
}

TEST_CASE("a predicate that throws fails the item") {
    const auto picky = [](int n) {
        if (n == 3) throw std::runtime_error("3 is not wanted");
        return n % 2 == 1;
    };
    virtual_time time;
    const auto pipeline =
        weir::source(std::views::iota(0, 10)) | weir::filter(picky, {.name = "f"}) | weir::sink();
    CHECK(take_all(pipeline.start(time, {.max_failures = 1})) == ints{1, 5, 7, 9});
    const auto end = take_until_failure(pipeline.start(time));
    CHECK(end.taken == ints{1});
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "f");
    CHECK(end.failed->item() == 3);
    CHECK(end.inside == "3 is not wanted");
}

TEST_CASE("what a filter drops, and what is left when a run is destroyed, is destroyed once") {
    items::ledger book(100);
    {
        virtual_time time;
        const auto third = [](const items::counted& c) { return c.number() % 3 == 0; };
        const auto half = [](const items::counted& c) -> task<bool> {
            co_await weir::sleep_for(1ms);
            co_return c.number() % 2 == 0;
        };
        auto run = (weir::source(std::views::iota(0, 100)) |
                    weir::pipe([&book](int) { return items::counted(book); }) | weir::filter(third) |
                    weir::filter(half, {.concurrency = 2}) | weir::sink())
                       .start(time);
        for (std::size_t n = 0; n < 5; ++n) CHECK(run.get()->number() == 6 * n);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

namespace {

auto one_a_ms(int& asked) {
    return [&asked]() -> task<std::optional<int>> {
        const int n = asked++;
        co_await weir::sleep_for(1ms);
        co_return n;
    };
}

}  // namespace

TEST_CASE("a take gives the first items of a stream, which then ends") {
    virtual_time time;
    const auto take = [&time](std::uint64_t n) {
        return take_all((weir::source(std::views::iota(0, 5)) | weir::take(n) | weir::sink()).start(time));
    };
    CHECK(take(3) == ints{0, 1, 2});
    CHECK(take(5) == ints{0, 1, 2, 3, 4});
    CHECK(take(6) == ints{0, 1, 2, 3, 4});
    CHECK(take(1) == ints{0});
    CHECK(take(0).empty());
    CHECK(take_all((weir::source(std::views::iota(0)) | weir::take(4) | weir::sink()).start(time)).size() ==
          4);
}

TEST_CASE("what comes before a take ends as soon as it has its last item, whoever takes that") {
    virtual_time time;
    int asked = 0;
    auto run = (weir::source(one_a_ms(asked)) | weir::take(4, {.capacity = 1}) | weir::sink(1)).start(time);
    time.run_until(time_point(1s));
    // Three have room behind it; the fourth waits, and one more was under way.
    CHECK(asked == 5);
    CHECK(take_all(run) == ints{0, 1, 2, 3});
    CHECK(asked == 5);
    CHECK(flows::add_up(run.stats()));
}

TEST_CASE("a take of nothing ends what comes before it with what that has in hand") {
    virtual_time time;
    int asked = 0;
    int worked = 0;
    auto run = (weir::source(one_a_ms(asked)) | weir::pipe([&worked](int n) { return ++worked, n; }) |
                weir::take(0) | weir::sink())
                   .start(time);
    CHECK_FALSE(run.get().has_value());
    CHECK(time.now() == time_point(0ms));
    time.run_until(time_point(1s));
    CHECK(worked == 1);
    CHECK(asked <= 3);
    CHECK(flows::add_up(run.stats()));
}

TEST_CASE("a take counts in a run without statistics, too") {
    virtual_time time;
    const auto take = [&time](std::uint64_t n) {
        const auto pipeline = weir::source(std::views::iota(0)) | weir::take(n) | weir::sink();
        return take_all(pipeline.start<weir::unmeasured>(time));
    };
    CHECK(take(2) == ints{0, 1});
    CHECK(take(0).empty());
}

TEST_CASE("a take counts through epochs, and ends within one") {
    virtual_time time;
    const auto take = [&time](std::uint64_t n) {
        return flows::by_epoch(
            (weir::source(weir::epochs(ints{1, 2, 3})) | weir::take(n) | weir::sink()).start(time));
    };
    CHECK(take(5) == epoch_list{{0, {1, 2, 3}}, {1, {1, 2}}});
    CHECK(take(3) == epoch_list{{0, {1, 2, 3}}});
    CHECK(take(4) == epoch_list{{0, {1, 2, 3}}, {1, {1}}});
    CHECK(take(0).empty());
}

TEST_CASE("what a stage behind a take holds is given at its end") {
    virtual_time time;
    CHECK(take_all((weir::source(std::views::iota(0)) | weir::take(3) | weir::aggregate(2) | weir::sink())
                       .start(time)) == std::vector<ints>{{0, 1}, {2}});
    CHECK(take_all(
              (weir::source(weir::epochs(ints{1, 2, 3})) | weir::take(4) | weir::aggregate(2) | weir::sink())
                  .start(time)) == std::vector<ints>{{1, 2}, {3}, {1}});
}

TEST_CASE("a run with a take or a skip, which begin anew when it is resumed, has no checkpoint") {
    virtual_time time;
    const auto from = weir::source(weir::draws(weir::sampler({.size = 10}), 1));
    const auto refusal_of = [&time](const auto& pipeline) {
        auto run = pipeline.start(time);
        CHECK(run.get().has_value());
        return items::message_of([&run] { static_cast<void>(run.checkpoint()); });
    };
    CHECK(refusal_of(from | weir::take(5) | weir::sink()) ==
          "weir: this run has no checkpoint: stage 'take#1' would take as many items again in a resumed run");
    CHECK(refusal_of(from | weir::skip(4, {.name = "warm"}) | weir::sink()) ==
          "weir: this run has no checkpoint: stage 'warm' would skip as many items again in a resumed run");
}

TEST_CASE("a failure before a take has all its items comes through, a later one is never reached") {
    virtual_time time;
    const auto up_to = [](int n) {
        if (n == 6) throw std::runtime_error("6 is not wanted");
        return n;
    };
    const auto pipeline = [&](std::uint64_t n) {
        return weir::source(std::views::iota(0)) | weir::pipe(up_to, {.capacity = 1}) | weir::take(n) |
               weir::sink();
    };
    CHECK(take_all(pipeline(3).start(time)) == ints{0, 1, 2});
    const auto end = take_until_failure(pipeline(8).start(time));
    CHECK(end.taken == ints{0, 1, 2, 3, 4, 5});
    CHECK(end.inside == "6 is not wanted");
}

TEST_CASE("what comes after a take's last item is destroyed once") {
    items::ledger book(100);
    {
        virtual_time time;
        const auto make = [&book](int) { return items::counted(book); };
        auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(make, {.capacity = 5}) |
                    weir::take(7) | weir::sink())
                       .start(time);
        CHECK(take_all(run).size() == 7);
        CHECK(book.alive() == 0);
        CHECK(book.born() < 20);
        auto left_early =
            (weir::source(std::views::iota(0, 50)) | weir::pipe(make) | weir::take(7) | weir::sink())
                .start(time);
        CHECK(left_early.get().has_value());
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("a skip drops the first items, of all epochs together") {
    virtual_time time;
    const auto skip = [&time](std::uint64_t n) {
        return take_all((weir::source(std::views::iota(0, 5)) | weir::skip(n) | weir::sink()).start(time));
    };
    CHECK(skip(0) == ints{0, 1, 2, 3, 4});
    CHECK(skip(3) == ints{3, 4});
    CHECK(skip(5).empty());
    CHECK(skip(9).empty());
    auto run = (weir::source(weir::epochs(ints{1, 2, 3}, 3)) | weir::skip(4) | weir::sink()).start(time);
    CHECK(flows::by_epoch(run) == epoch_list{{0, {}}, {1, {2, 3}}, {2, {1, 2, 3}}});
    CHECK(flows::add_up(run.stats()));
    CHECK(take_all((weir::source(std::views::iota(0)) | weir::skip(10) | weir::take(3) | weir::sink())
                       .start(time)) == ints{10, 11, 12});
}

TEST_CASE("a take and a skip have names, capacities and one slot") {
    virtual_time time;
    auto run = (weir::source({1, 2, 3}) | weir::skip(1) | weir::take(1, {.name = "one", .capacity = 9}) |
                weir::sink())
                   .start(time);
    CHECK(take_all(run) == ints{2});
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).name == "skip#1");
    CHECK(stats.stages.at(1).kind == "skip");
    CHECK(stats.stages.at(2).name == "one");
    CHECK(stats.stages.at(2).kind == "take");
    CHECK(stats.channels.at(2).capacity == 9);
    auto pipeline = weir::source({1}) | weir::take(1) | weir::sink();
    pipeline.options("take#1").concurrency = 2;
    CHECK_THROWS_AS(pipeline.start(time), std::invalid_argument);
}
