#include <weir/weir.hpp>

#include "support/catch.hpp"

#include <numeric>
#include <ranges>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

// As README begins.
TEST_CASE("with the umbrella alone a pipeline runs on a pool, and prints where the time went") {
    const auto square = [](int n) { return n * n; };
    const auto sum = [](const std::vector<int>& all) { return std::accumulate(all.begin(), all.end(), 0); };
    auto pipeline = weir::source(std::views::iota(1, 101)) |
                    weir::pipe(square, {.name = "square", .concurrency = 2}) | weir::aggregate(4) |
                    weir::pipe(sum, {.name = "sum"}) | weir::sink(3);
    weir::thread_pool pool(2);
    auto run = pipeline.start(pool);
    int total = 0;
    for (const int n : run) total += n;
    CHECK(total == 338'350);
    std::ostringstream table;
    table << run.stats();
    CHECK(table.str().find("square") != std::string::npos);
}

TEST_CASE("with the umbrella alone coroutines talk through a channel on virtual time") {
    weir::virtual_time time;
    weir::channel<int> numbers(1, time);
    const auto puts = [&]() -> weir::task<> {
        for (int i = 1; i <= 3; ++i) {
            co_await weir::sleep_for(weir::duration(10));
            co_await numbers.put(i + 0);
        }
        numbers.close();
    };
    const auto adds = [&]() -> weir::task<int> {
        int sum = 0;
        while (const auto n = co_await numbers.get()) sum += *n;
        co_return sum;
    };
    CHECK(std::get<1>(weir::sync_wait(time, weir::when_all(puts(), adds()))) == 6);
    CHECK(numbers.stats().get_wait == weir::duration(30));
}
