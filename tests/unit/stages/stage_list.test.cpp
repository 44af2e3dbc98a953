#include <weir/stages/stage_list.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/generator.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::take_all;
using weir::stage_list;
using weir::virtual_time;
using ints = std::vector<int>;

namespace {

auto plus(int by, const char* name) {
    return weir::pipe([by](int n) { return n + by; }, {.name = name});
}

stage_list<int> plus_1_times_10() {
    stage_list<int> list;
    list.add(plus(1, "plus 1")).add(weir::pipe([](int n) { return 10 * n; }, {.name = "times 10"}));
    return list;
}

}  // namespace

TEST_CASE("the stages of a list stand in a pipeline in the order in which they were added") {
    virtual_time time;
    const auto pipeline = weir::source({1, 2, 3}) | plus_1_times_10() | weir::sink();
    auto run = pipeline.start(time);
    CHECK(take_all(run) == ints{20, 30, 40});
    const auto stats = run.stats();
    REQUIRE(stats.stages.size() == 4);
    CHECK(stats.stages.at(1).name == "plus 1");
    CHECK(stats.stages.at(2).name == "times 10");
    CHECK(take_all(pipeline.start(time)) == ints{20, 30, 40});
}

TEST_CASE("an empty list passes everything on") {
    virtual_time time;
    const auto pipeline = weir::source({1, 2, 3}) | stage_list<int>() | weir::sink();
    auto run = pipeline.start(time);
    CHECK(take_all(run) == ints{1, 2, 3});
    CHECK(run.stats().stages.size() == 2);
}

TEST_CASE("a list takes every kind of stage that takes and gives its type") {
    virtual_time time;
    stage_list<ints> list;
    list.add(weir::pipe([](ints all) {
        all.push_back(0);
        return all;
    }));
    list.add(weir::pipe([](ints all) -> weir::generator<ints> {
        co_yield all;
        co_yield ints(1, 7);
    }));
    list.add(weir::pipe([](ints all) -> std::optional<ints> {
        if (all.size() == 1) return std::nullopt;
        return all;
    }));
    const auto pipeline = weir::source(std::vector<ints>{{1}, {2, 3}}) | list | weir::sink();
    CHECK(take_all(pipeline.start(time)) == std::vector<ints>{{1, 0}, {2, 3, 0}});
}

TEST_CASE("a list is a value: a copy has its own stages") {
    virtual_time time;
    stage_list<int> one = plus_1_times_10();
    stage_list<int> two = one;
    two.add(plus(5, "plus 5"));
    const auto of = [&time](const stage_list<int>& list) {
        return take_all((weir::source({1}) | list | weir::sink()).start(time));
    };
    CHECK(of(one) == ints{20});
    CHECK(of(two) == ints{25});
    one = std::move(two);
    CHECK(of(one) == ints{25});
    one = stage_list<int>();
    CHECK(of(one) == ints{1});
}

TEST_CASE("lists are put together with stages, and with each other") {
    virtual_time time;
    const stage_list<int> list = plus_1_times_10();
    const auto both = list | list;
    CHECK(take_all((weir::source({1}) | both | weir::sink()).start(time)) == ints{210});
    const auto three = list | list | list;
    CHECK(take_all((weir::source({1}) | three | plus(1, "") | weir::sink()).start(time)) == ints{2111});
}

TEST_CASE("the options of a list's stages are found by name, in the pipeline's own list") {
    virtual_time time;
    const stage_list<int> list = plus_1_times_10();
    auto pipeline = weir::source({1}) | list | weir::sink();
    pipeline.options("times 10").concurrency = 3;
    CHECK(pipeline.start(time).stats().stages.at(2).concurrency == 3);
    auto other = weir::source({1}) | list | weir::sink();
    CHECK(other.start(time).stats().stages.at(2).concurrency == 1);
    CHECK(items::message_of([&] { static_cast<void>(other.options("plus 2")); }) ==
          "weir: no stage of this pipeline is named 'plus 2'; its stages are 'src', 'plus 1', "
          "'times 10', 'sink'");
}

TEST_CASE("a list runs with and without statistics") {
    virtual_time time;
    const auto pipeline = weir::source({1, 2}) | plus_1_times_10() | weir::sink();
    CHECK(take_all(pipeline.start<weir::unmeasured>(time)) == ints{20, 30});
    CHECK(take_all(pipeline.start<weir::summed>(time)) == ints{20, 30});
}
