#include <weir/stages/filter.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/run/invocation.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
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
