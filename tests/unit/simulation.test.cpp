#include <weir/simulation.hpp>

#include "support/catch.hpp"

#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sim = weir::simulation;
using ints = std::vector<int>;

TEST_CASE("one include brings what takes coroutines, channels and pipelines through many schedules") {
    std::set<std::string> orders;
    const auto scenario = [&orders](sim::world& w) {
        std::string order;
        weir::channel<char, sim::stepwise> letters(2);
        const auto put = [&](char c) -> weir::task<> {
            const bool in = co_await letters.put(c + 0);
            w.demand(in, "nobody closes it");
        };
        weir::sync_wait(w, weir::when_all(put('a'), put('b')));
        for (int i = 0; i < 2; ++i) order += *letters.try_get();
        orders.insert(order);
    };
    const sim::explored all = sim::explore(scenario, {.strategy = sim::strategy::exhaustive});
    CHECK(all.complete);
    CHECK(orders == std::set<std::string>{"ab", "ba"});

    const auto twice =
        weir::source({1, 2, 3}) | weir::pipe([](int n) { return 2 * n; }, {.concurrency = 2}) | weir::sink();
    std::set<ints> results;
    const auto check = [&results](ints items) { results.insert(std::move(items)); };
    CHECK(sim::explore(twice, check, {.schedules = 200}).schedules == 200);
    CHECK(results.size() > 1);
    for (ints each : results) {
        std::sort(each.begin(), each.end());
        CHECK(each == ints{2, 4, 6});
    }
}

TEST_CASE("the same include brings what finds figures that contradict themselves") {
    weir::pipeline_stats stats;
    stats.channels.resize(1);
    stats.channels[0].num_get = 1;
    CHECK_THROWS_AS(sim::check_identities(stats), sim::failed_check);
}
