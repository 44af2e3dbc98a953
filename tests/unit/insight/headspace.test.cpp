#include <weir/insight/headspace.hpp>

#include "support/catch.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/run/failure.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using weir::headspace;
using weir::headspace_options;
using weir::headspace_result;

namespace {

// A pipeline that gives an item each `ms` milliseconds.
auto loader(int ms, int items = 1'000'000) {
    const auto load = [ms](int i) -> weir::task<int> {
        co_await weir::sleep_for(std::chrono::milliseconds(ms));
        co_return i;
    };
    return weir::source(std::views::iota(0, items)) | weir::pipe(load) | weir::sink();
}

// A consumer that takes so long for each item.
auto taking(int ms) {
    return [ms](int) -> weir::task<> { co_await weir::sleep_for(std::chrono::milliseconds(ms)); };
}

headspace_result of(int loading_ms, int consuming_ms, const headspace_options& options = {}) {
    weir::virtual_time time;
    return headspace(loader(loading_ms), time, taking(consuming_ms), options);
}

std::string refusal(int items, const headspace_options& options) {
    weir::virtual_time time;
    try {
        static_cast<void>(headspace(loader(1, items), time, taking(1), options));
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("if the pipeline is slower, the consumer alone shows what loading for nothing would bring") {
    const headspace_result result = of(4, 2);
    CHECK(result.measured == Approx(250));
    CHECK(result.pipeline == Approx(250));
    CHECK(result.consumer == Approx(500));
    CHECK(result.gain == Approx(1));
    CHECK(result.num_kept == 16);
    CHECK(result.sentence ==
          "the pipeline limits the program to 250 /s: the consumer alone, with items from "
          "memory, would take 500 /s, 100 % more; the pipeline alone gives 250 /s");
}

TEST_CASE("if the consumer is slower, the pipeline keeps up") {
    const headspace_result result = of(1, 4);
    CHECK(result.measured == Approx(250));
    CHECK(result.pipeline == Approx(1000));
    CHECK(result.consumer == Approx(250));
    CHECK(result.gain == Approx(0).margin(1e-9));
    CHECK(result.sentence ==
          "the pipeline keeps up: the consumer takes 250 /s, and alone, with items from "
          "memory, 250 /s; the pipeline alone gives 1.0 k/s");
}

TEST_CASE("if both are faster alone, they slow each other down") {
    // Ten short times, then ten long ones, and the other way round; the queues have room for few items.
    weir::virtual_time time;
    const auto takes = [](int i, bool is_long) -> weir::task<int> {
        co_await weir::sleep_for(is_long ? 19ms : 1ms);
        co_return i;
    };
    const auto load = [&takes](int i) { return takes(i, i % 20 >= 10); };
    const auto consumer = [&takes](int i) -> weir::task<> { co_await takes(i, i % 20 < 10); };
    const auto p = weir::source(std::views::iota(0)) | weir::pipe(load) | weir::sink(1);
    const headspace_result result = headspace(p, time, consumer, {.items = 401, .kept = 20, .skipped = 0});
    CHECK(result.pipeline == Approx(100));
    CHECK(result.consumer == Approx(100));
    CHECK(result.measured < 75);
    CHECK_THAT(result.sentence, ContainsSubstring("slow each other down to"));
}

TEST_CASE("each measurement ends after so many items, or after so long, also with a source that never ends") {
    weir::virtual_time time;
    const auto begin = time.now();
    static_cast<void>(headspace(loader(10), time, taking(20), {.items = 11}));
    // 11 items from 10 ms on; 10 and the last one; 10 calls.
    CHECK(time.now() - begin == 110ms + 10ms + 220ms + 200ms);
    const auto later = time.now();
    CHECK(headspace(loader(10), time, taking(20), {.time = 1s}).measured == Approx(50));
    CHECK(time.now() - later < 3s + 100ms);
}

TEST_CASE("a pipeline that stalls is left after the time") {
    weir::virtual_time time;
    const auto stalls = [](int i) -> weir::task<int> {
        std::chrono::nanoseconds pause = std::chrono::milliseconds(1);
        if (i >= 2) pause = std::chrono::hours(24);
        co_await weir::sleep_for(pause);
        co_return i;
    };
    const auto p = weir::source(std::views::iota(0)) | weir::pipe(stalls) | weir::sink();
    const headspace_result result = headspace(p, time, [](int) {}, {.time = 5s});
    CHECK(result.pipeline == Approx(1000));
    CHECK(time.now().time_since_epoch() == 10s);
}

TEST_CASE("if kept items hold all objects of a pool, the message says that the pool needs more") {
    weir::virtual_time time;
    const auto pool = std::make_shared<int>();
    const auto borrow = [pool](int) -> weir::task<std::shared_ptr<int>> {
        while (pool.use_count() > 8) co_await weir::sleep_for(1s);
        co_return pool;
    };
    const auto p = weir::source(std::views::iota(0)) | weir::pipe(borrow) | weir::sink();
    CHECK_THROWS_WITH(headspace(p, time, [](const std::shared_ptr<int>&) {}),
                      ContainsSubstring("the pool needs headspace_options::kept more"));
}

TEST_CASE("the first items are not measured") {
    weir::virtual_time time;
    const auto warms_up = [](int i) -> weir::task<int> {
        co_await weir::sleep_for(i < 5 ? 1s : 10ms);
        co_return i;
    };
    const auto p = weir::source(std::views::iota(0, 100)) | weir::pipe(warms_up) | weir::sink();
    CHECK(headspace(p, time, taking(1), {.skipped = 5}).pipeline == Approx(100));
    CHECK(headspace(p, time, taking(1), {.skipped = 0}).pipeline < 25);
}

TEST_CASE("of few items at most half are skipped, and fewer than 2 are refused with a sentence") {
    weir::virtual_time time;
    CHECK(headspace(loader(10, 2), time, taking(20)).pipeline == Approx(100));
    CHECK_THAT(refusal(1, {}),
               ContainsSubstring("weir: headspace needs at least 2 items of each measurement, and got 1"));
    CHECK_THAT(refusal(9, {.time = 1ms}), ContainsSubstring("the pipeline alone"));
    CHECK_THAT(refusal(9, {.items = 1}), ContainsSubstring("headspace_options::items"));
    CHECK_THAT(refusal(9, {.time = 0s}), ContainsSubstring("headspace_options::time"));
    CHECK_THAT(refusal(9, {.kept = 0}), ContainsSubstring("headspace_options::kept"));
    CHECK_THAT(refusal(9, {.skipped = static_cast<std::uint64_t>(-1)}),
               ContainsSubstring("headspace_options::skipped"));
}

TEST_CASE("the consumer gets copies of the kept items, which are the first ones, and may change them") {
    weir::virtual_time time;
    std::multiset<std::string> seen;
    const auto p = weir::source(std::vector<std::string>{"a", "b", "c", "d"}) | weir::sink();
    const auto consumer = [&seen](std::string& text) {
        seen.insert(text);
        text = "changed";
    };
    CHECK(headspace(p, time, consumer, {.items = 8, .kept = 2}).num_kept == 2);
    CHECK(seen.count("changed") == 0);
    CHECK(seen.count("a") == 5);  // once of the run; every other one of 7
    CHECK(seen.count("b") == 4);
    CHECK(seen.count("c") == 1);
}

TEST_CASE("no measurement takes longer than its time, also if the copies take most of it") {
    weir::virtual_time time;
    struct item {
        explicit item(weir::virtual_time& t) : clock(&t) {}
        item(const item& other) : clock(other.clock) { clock->run_until(clock->now() + 20ms); }
        item(item&&) = default;
        item& operator=(item&&) = default;
        weir::virtual_time* clock;
    };
    const auto make = [&time](int) { return item(time); };
    const auto p = weir::source(std::views::iota(0)) | weir::pipe(make) | weir::sink();
    const auto consumer = [&time](item&) { time.run_until(time.now() + 1ms); };
    const headspace_result result = headspace(p, time, consumer, {.items = 1'000, .time = 1s});
    CHECK(result.consumer == Approx(1'000));
    CHECK(time.now() < weir::time_point(2'100ms));  // the first measurement takes no time
}

TEST_CASE("items that only move are passed themselves, also in vectors") {
    weir::virtual_time time;
    const auto boxed = [](int i) { return std::make_unique<int>(i); };
    const auto p =
        weir::source(std::views::iota(0, 8)) | weir::pipe(boxed) | weir::aggregate(2) | weir::sink();
    int sum = 0;
    const auto consumer = [&sum](const std::vector<std::unique_ptr<int>>& batch) {
        for (const auto& each : batch) sum += *each;
    };
    CHECK(headspace(p, time, consumer, {.items = 5}).num_kept == 4);
    CHECK(sum == 2 * (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7));
}

TEST_CASE("a consumer that is a function may take items by value, and return something") {
    weir::virtual_time time;
    const auto consumer = [&time](std::vector<int> batch) {
        time.run_until(time.now() + 5ms);
        return batch.size();
    };
    const auto batches = weir::source(std::views::iota(0, 100)) | weir::aggregate(4) | weir::sink();
    CHECK(headspace(batches, time, consumer).consumer == Approx(200));
}

TEST_CASE("a function that starts a run can stand for the pipeline") {
    weir::virtual_time time;
    int starts = 0;
    const auto start = [&] {
        ++starts;
        std::vector<std::unique_ptr<int>> boxes;
        for (int i = 0; i < 20; ++i) boxes.push_back(std::make_unique<int>(i));
        return (weir::source(std::move(boxes)) | weir::sink()).start(time, {.later_stages_first = true});
    };
    CHECK(headspace(start, time, [](std::unique_ptr<int>& box) { *box += 1; }).num_kept == 16);
    CHECK(starts == 2);
}

TEST_CASE("exceptions of the consumer and failures of the run leave the call, and the run has ended") {
    weir::virtual_time time;
    const auto throws = [](int i) {
        if (i == 3) throw std::out_of_range("three");
    };
    CHECK_THROWS_AS(headspace(loader(1), time, throws), std::out_of_range);
    const auto throws_later = [](int i) -> weir::task<> {
        co_await weir::sleep_for(1ms);
        if (i == 3) throw std::out_of_range("three");
    };
    CHECK_THROWS_AS(headspace(loader(1), time, throws_later), std::out_of_range);
    const auto fails = [](int i) {
        if (i == 3) throw std::out_of_range("three");
        return i;
    };
    const auto p = weir::source(std::views::iota(0, 9)) | weir::pipe(fails) | weir::sink();
    CHECK_THROWS_AS(headspace(p, time, taking(1)), weir::pipeline_failure);
}

TEST_CASE("on a pool the consumer may be a function or a coroutine") {
    weir::thread_pool pool(2);
    const auto p =
        weir::source(std::views::iota(0, 200)) | weir::pipe([](int i) { return i + 1; }) | weir::sink();
    int calls = 0;
    const headspace_result function = headspace(p, pool, [&calls](int) { ++calls; }, {.items = 100});
    CHECK(calls == 199);
    CHECK(function.measured > 0);
    const headspace_result coroutine = headspace(p, pool,
                                                 [&calls](int) -> weir::task<> {
                                                     ++calls;
                                                     co_return;
                                                 },
                                                 {.items = 100});
    CHECK(calls == 398);
    CHECK(coroutine.consumer > 0);
}
