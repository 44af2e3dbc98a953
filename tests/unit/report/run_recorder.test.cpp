#include <weir/report/run_recorder.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/report/describe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <vector>

using items::take_all;
using weir::run_record;
using weir::run_recorder;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

auto loader(int n) {
    const auto decode = [](int i) -> task<int> {
        co_await weir::sleep_for(7ms);
        if (i % 5 == 3) throw std::runtime_error("item " + std::to_string(i));
        co_return i;
    };
    return weir::source(std::views::iota(0, n)) | weir::pipe(decode, {.name = "decode", .concurrency = 2}) |
           weir::sink();
}

weir::run_options with(std::shared_ptr<run_recorder> r) {
    return {.max_failures = weir::unlimited, .lap = 10ms, .reports = {std::move(r)}};
}

}  // namespace

TEST_CASE("a run is recorded with everything known, and with laps that add up to the whole") {
    virtual_time time;
    const auto p = loader(10);
    const auto recorder =
        std::make_shared<run_recorder>("test", weir::describe(p),
                                       weir::run_recorder_options{.settings = {{"threads", "1"}}});
    CHECK(take_all(p.start(time, with(recorder))).size() == 8);
    const run_record run = recorder->record();
    CHECK(run.name == "test");
    CHECK(run.ended);
    CHECK(run.settings.at(0).value == "1");
    CHECK(run.description == weir::describe(p));
    CHECK(run.machine == weir::this_machine());
    CHECK(run.started.size() == 20);
    CHECK(run.total.elapsed == 35ms);
    REQUIRE(run.laps.size() == 4);
    CHECK(run.laps[3].elapsed == 5ms);
    weir::pipeline_stats sum = run.laps[0];
    for (std::size_t i = 1; i < run.laps.size(); ++i) sum = weir::joined(sum, run.laps[i]);
    CHECK(sum.elapsed == run.total.elapsed);
    CHECK(sum.stages[1].num_tasks == run.total.stages[1].num_tasks);
    CHECK(sum.stages[1].times() == run.total.stages[1].times());
    CHECK(run.num_failures == 2);
    REQUIRE(run.failures.size() == 2);
    CHECK(run.failures[0].stage == "decode");
    CHECK(run.failures[0].item == 3);
    CHECK(run.failures[0].message == "item 3");
    CHECK(run.failures[0].where.find("run_recorder.test.cpp:") == 0);
    CHECK(run.failures[0].lap == 1);
    CHECK(weir::run_from_json(weir::json_text(run)) == run);
}

TEST_CASE("while a run goes on, its record has the laps that have ended, and their sum as the total") {
    virtual_time time;
    const auto p = loader(10);
    const auto recorder = std::make_shared<run_recorder>();
    CHECK_FALSE(recorder->record().ended);
    auto run = p.start(time, with(recorder));
    time.run_until(time.now() + 25ms);
    const run_record now = recorder->record();
    CHECK_FALSE(now.ended);
    CHECK(now.laps.size() == 2);
    CHECK(now.total.elapsed == 20ms);
    CHECK(now.total.stages.at(1).name == "decode");
}

TEST_CASE("if there are many laps, pairs of laps are joined, and nothing is lost") {
    virtual_time time;
    const auto p = loader(40);
    const auto recorder = std::make_shared<run_recorder>("", weir::pipeline_description(),
                                                         weir::run_recorder_options{.most_laps = 4});
    CHECK(take_all(p.start(time, with(recorder))).size() == 32);
    const run_record run = recorder->record();
    CHECK(run.laps.size() <= 5);
    weir::pipeline_stats sum = run.laps[0];
    for (std::size_t i = 1; i < run.laps.size(); ++i) sum = weir::joined(sum, run.laps[i]);
    CHECK(sum.elapsed == run.total.elapsed);
    CHECK(sum.channels[0].put_waits.buckets() == run.total.channels[0].put_waits.buckets());
    for (const auto& each : run.failures) CHECK(each.lap < run.laps.size());
}

TEST_CASE("if there are many failures, the first are kept, and all are counted") {
    virtual_time time;
    const auto recorder = std::make_shared<run_recorder>("", weir::pipeline_description(),
                                                         weir::run_recorder_options{.most_failures = 1});
    const auto p = loader(40);
    CHECK(take_all(p.start(time, with(recorder))).size() == 32);
    CHECK(recorder->record().num_failures == 8);
    CHECK(recorder->record().failures.size() == 1);
    CHECK(take_all(loader(3).start(time, with(recorder))).size() == 3);
    CHECK(recorder->record().num_failures == 0);
    CHECK(recorder->record().total.stages[1].num_tasks == 3);
}

TEST_CASE("the text of an exception may ask the recorder, which has no lock then") {
    struct asks : std::exception {
        explicit asks(const run_recorder& r) : recorder(&r) {}
        const char* what() const noexcept override { return recorder->record().ended ? "ended" : "goes on"; }
        const run_recorder* recorder;
    };
    virtual_time time;
    const auto recorder = std::make_shared<run_recorder>("test");
    const auto p = weir::source({1}) | weir::pipe([&](int n) {
                       if (n == 1) throw asks(*recorder);
                       return n;
                   }) |
                   weir::sink();
    CHECK(take_all(p.start(time, with(recorder))).empty());
    CHECK(recorder->record().failures.at(0).message == "goes on");
}

TEST_CASE("a recorder of fewer than two laps is refused") {
    CHECK_THROWS_AS(run_recorder("", {}, {.most_laps = 1}), std::invalid_argument);
}
