#include <weir/weir.hpp>

#include "support/catch.hpp"

#include <cstdint>
#include <numeric>
#include <ranges>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

// An item whose address only std::addressof gives.
struct shy {
    explicit shy(int number) : n(number) {}
    void operator&() const = delete;
    int n;
};

auto shy_items() { return weir::source(std::vector<shy>{shy(1), shy(2), shy(3)}); }

}  // namespace

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

TEST_CASE("all stages take items whose class has no unary &") {
    weir::virtual_time time;
    const auto sum_of = [&](auto pipeline) {
        auto run = std::move(pipeline).start(time);
        int sum = 0;
        for (auto at = run.begin(); at != run.end(); ++at) sum += at->n;
        return sum;
    };
    const auto same = [](shy item) { return item; };
    const auto twice = [](shy item) -> weir::generator<shy> {
        co_yield item;
        co_yield item;
    };
    const auto as_int = [](const auto& row) { return shy(std::get<0>(row).n * std::get<1>(row).n); };
    CHECK(sum_of(shy_items() | weir::pipe(same) | weir::shuffle(2) | weir::sink()) == 6);
    CHECK(sum_of(shy_items() | weir::pipe(twice) | weir::sink()) == 12);
    CHECK(sum_of(shy_items() | weir::tee(weir::pipe(same)) | weir::sink()) == 6);
    CHECK(sum_of(weir::zip(shy_items(), shy_items()) | weir::pipe(as_int) | weir::sink()) == 14);
    CHECK(sum_of(shy_items() | weir::aggregate(2) |
                 weir::split([](const shy&) { return "only"; },
                             weir::branch("only", weir::pipe([](std::vector<shy> all) { return all; }))) |
                 weir::disaggregate() | weir::sink()) == 6);
    auto epochs =
        weir::source(weir::epochs([](std::uint64_t) { return std::vector<shy>{shy(1), shy(2)}; }, 2));
    CHECK(sum_of(std::move(epochs) | weir::cache(2) | weir::pipe(same) | weir::sink()) == 6);
}

TEST_CASE("a channel moves items whose class has no unary &") {
    weir::virtual_time time;
    weir::channel<shy> items(4, time);
    CHECK(items.blocking_put(shy(1)) == weir::channel_status::success);
    CHECK(items.try_put(shy(2)) == weir::channel_status::success);
    const auto puts = [&]() -> weir::task<> { co_await items.put(shy(3)); };
    weir::sync_wait(time, puts());
    CHECK(items.blocking_get()->n == 1);
    CHECK(items.try_get()->n == 2);
    CHECK(items.try_get()->n == 3);
}
