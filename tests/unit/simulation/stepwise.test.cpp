#include <weir/simulation/stepwise.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/simulation/explore.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <set>
#include <string>

namespace sim = weir::simulation;

namespace {

template <class Policy>
weir::task<> put_twice(weir::channel<char, Policy>& to, char c) {
    co_await to.put(c + 0);
    co_await to.put(c + 0);
}

// In which orders the items of two coroutines may lie in a channel that has room for all of them.
template <class Policy>
std::set<std::string> orders() {
    std::set<std::string> all;
    const auto scenario = [&all](sim::world& w) {
        weir::channel<char, Policy> items(4);
        weir::sync_wait(w, weir::when_all(put_twice(items, 'a'), put_twice(items, 'b')));
        std::string order;
        while (const auto item = items.try_get()) order += *item;
        all.insert(order);
    };
    sim::explore(scenario, {.schedules = 100'000, .strategy = sim::strategy::exhaustive});
    return all;
}

}  // namespace

TEST_CASE("others may go on between any two operations, also those that needn't wait") {
    CHECK(orders<weir::summed>() == std::set<std::string>{"aabb", "bbaa"});
    CHECK(orders<sim::stepwise>() == std::set<std::string>{"aabb", "abab", "abba", "baab", "baba", "bbaa"});
}

TEST_CASE("in steps the same is measured as in sums") {
    CHECK(sim::stepwise::statistics);
    CHECK_FALSE(sim::stepwise::histograms);
}
