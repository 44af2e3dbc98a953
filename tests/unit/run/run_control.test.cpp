#include <weir/run/run_control.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/run/run.hpp>
#include <weir/run/run_outcome.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

TEST_CASE("a run can't be copied, nor destroyed, by what it is told by") {
    using control = weir::run_control<>;
    CHECK_FALSE(std::is_copy_constructible_v<control>);
    CHECK_FALSE(std::is_destructible_v<control>);
    CHECK_FALSE(std::is_move_constructible_v<control>);
    CHECK(std::is_nothrow_move_constructible_v<weir::run<int>>);
}

TEST_CASE("a stop, however it was asked for, destroys what a pass over the epochs had fetched") {
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
