#include <weir/run/run_result.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/run/run.hpp>
#include <weir/run/run_outcome.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

using weir::task;
using weir::virtual_time;

namespace {

auto numbers(int n) { return weir::source(std::views::iota(0, n)); }

template <class Run>
task<std::uint64_t> drained(Run& run) {
    const weir::run_result all = co_await run;
    co_return all.items;
}

}  // namespace

TEST_CASE("a thread or a coroutine drains a run, and is told how many items it took, and the statistics") {
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

TEST_CASE("who drains epochs counts their items, and not their ends") {
    virtual_time time;
    const auto pipeline = weir::source(weir::epochs([] { return std::views::iota(0, 3); }, 4)) | weir::sink();
    auto run = pipeline.start(time);
    CHECK(run.get_in_epoch() == 0);
    CHECK(run.drain().items == 11);
    auto other = pipeline.start(time);
    CHECK(weir::sync_wait(time, drained(other)) == 12);
}

TEST_CASE("who drains a run is thrown its failure, once") {
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
