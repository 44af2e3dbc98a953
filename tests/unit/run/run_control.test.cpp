#include <weir/run/run_control.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using weir::task;
using weir::virtual_time;

namespace {

std::size_t steer(weir::run_control<>& run) {
    run.set_capacity("double", 3);
    run.pause();
    const std::size_t stages = run.stages().size();
    run.resume();
    return stages;
}

auto doubled(auto first) {
    return weir::source(std::vector{first, first, first}) |
           weir::pipe([](auto item) { return item + item; }, {.name = "double"}) | weir::sink();
}

// A run, one item of which was fetched to see that there is an epoch, and left.
auto with_a_fetched_item(virtual_time& time, weir::run_options options = {}) {
    auto run = (weir::source(weir::epochs([] { return std::views::iota(0, 3); }, 1)) | weir::sink())
                   .start(time, std::move(options));
    for (auto& epoch : run.epochs()) {
        CHECK(epoch.number() == 0);
        break;
    }
    return run;
}

auto numbers(int n) { return weir::source(std::views::iota(0, n)); }

template <class Run>
task<std::uint64_t> drained(Run& run) {
    const weir::run_result all = co_await run;
    co_return all.items;
}

}  // namespace

TEST_CASE("one function steers runs of any items") {
    virtual_time time;
    auto numbers = doubled(1).start(time);
    auto texts = doubled(std::string("a")).start(time);
    CHECK(steer(numbers) == 3);
    CHECK(steer(texts) == 3);
    CHECK(numbers.get() == 2);
    CHECK(texts.get() == "aa");
    for (weir::run_control<>* each :
         {static_cast<weir::run_control<>*>(&numbers), static_cast<weir::run_control<>*>(&texts)}) {
        each->stop();
        CHECK(each->outcome() == weir::run_outcome::stopped);
    }
    CHECK(numbers.get() == std::nullopt);
    CHECK(texts.get() == std::nullopt);
}

TEST_CASE("a run_control can be neither copied nor destroyed") {
    using control = weir::run_control<>;
    CHECK_FALSE(std::is_copy_constructible_v<control>);
    CHECK_FALSE(std::is_destructible_v<control>);
    CHECK_FALSE(std::is_move_constructible_v<control>);
    CHECK(std::is_nothrow_move_constructible_v<weir::run<int>>);
}

TEST_CASE("each kind of stop destroys the item that an epoch_range has fetched") {
    virtual_time time;
    SECTION("by stop") {
        auto run = with_a_fetched_item(time);
        run.stop();
        CHECK(run.get() == std::nullopt);
    }
    SECTION("by request_stop") {
        auto run = with_a_fetched_item(time);
        run.request_stop();
        CHECK(run.get() == std::nullopt);
    }
    SECTION("by the stop token of its options") {
        weir::stop_source stop;
        auto run = with_a_fetched_item(time, {.stop = stop.get_token()});
        stop.request_stop();
        CHECK(run.get() == std::nullopt);
        CHECK(run.outcome() == weir::run_outcome::stopped_by_token);
    }
    SECTION("not without one") {
        auto run = with_a_fetched_item(time);
        CHECK(run.get() == 0);
    }
}

TEST_CASE("drain returns the number of items that it took, and the statistics, to a thread or a coroutine") {
    items::ledger book(100);
    virtual_time time;
    const auto pipeline =
        numbers(10) | weir::pipe([&book](int) { return items::counted(book); }) | weir::sink(1);
    auto run = pipeline.start(time);
    CHECK(run.get().has_value());
    const weir::run_result all = run.drain();
    CHECK(all.items == 9);
    CHECK(all.stats.channels.back().num_get == 10);
    CHECK(all.stats.elapsed == run.stats().elapsed);
    CHECK(run.outcome() == weir::run_outcome::finished);
    CHECK(run.drain().items == 0);

    auto other = pipeline.start(time);
    CHECK(weir::sync_wait(time, drained(other)) == 10);
    CHECK(weir::sync_wait(time, drained(other)) == 0);
    CHECK(book.born() == 20);
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("drain counts items of epochs, and not their ends") {
    virtual_time time;
    const auto pipeline = weir::source(weir::epochs([] { return std::views::iota(0, 3); }, 4)) | weir::sink();
    auto run = pipeline.start(time);
    CHECK(run.get_in_epoch() == 0);
    CHECK(run.drain().items == 11);
    auto other = pipeline.start(time);
    CHECK(weir::sync_wait(time, drained(other)) == 12);
}

TEST_CASE("drain throws the failure of a run, once") {
    virtual_time time;
    const auto pipeline = numbers(10) | weir::pipe([](int n) {
                              if (n == 4) throw std::runtime_error("four");
                              return n;
                          }) |
                          weir::sink();
    auto run = pipeline.start(time);
    CHECK_THROWS_AS(run.drain(), weir::pipeline_failure);
    CHECK(run.drain().items == 0);
    auto other = pipeline.start(time);
    CHECK_THROWS_AS(weir::sync_wait(time, drained(other)), weir::pipeline_failure);
    CHECK(weir::sync_wait(time, drained(other)) == 0);
}

TEST_CASE("a stage that drains its own run gets an error that says so") {
    virtual_time time;
    weir::run<int>* self = nullptr;
    std::string what;
    auto run = (numbers(1) | weir::pipe([&](int n) {
                    what = items::message_of([&self] { self->drain(); });
                    return n;
                }) |
                weir::sink())
                   .start(time);
    self = &run;
    CHECK(run.drain().items == 1);
    CHECK(items::contains(what, "weir: stage 'pipe#1' can't wait for the end of its own run"));
}
