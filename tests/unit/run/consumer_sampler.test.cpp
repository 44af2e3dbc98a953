#include <weir/run/consumer_sampler.hpp>

#include "support/catch.hpp"

#include <weir/weir.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <ranges>
#include <vector>

using namespace std::chrono_literals;
using weir::duration;

namespace {

weir::task<> consume(weir::run<int>& run, const std::vector<duration>& times) {
    std::size_t i = 0;
    while (true) {
        const auto item = co_await run.next();
        if (!item) break;
        co_await weir::sleep_for(times[i++ % times.size()]);
    }
}

weir::pipeline_stats stats_of(const std::vector<duration>& times, int items, std::size_t recording) {
    weir::virtual_time clock;
    auto run =
        (weir::source(std::views::iota(0, items)) | weir::sink()).start(clock, {.recording = recording});
    weir::sync_wait(clock, consume(run, times));
    return run.stats();
}

}  // namespace

TEST_CASE("the consumer's time for each item is kept, to the nanosecond, in the order of the items") {
    const std::optional<weir::task_samples> kept = stats_of({3ms, 7ns, 1s}, 6, 100).consumer;
    REQUIRE(kept);
    REQUIRE(kept->tasks.size() == 6);
    const duration expected[] = {3ms, 7ns, 1s, 3ms, 7ns, 1s};
    duration at{};
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(kept->tasks[i] == weir::task_sample{.at = at += expected[i], .run = expected[i]});
    }
}

TEST_CASE("of many items the consumer's times are a sample") {
    const std::optional<weir::task_samples> kept = stats_of({1ms, 2ms}, 10'000, 100).consumer;
    REQUIRE(kept);
    CHECK(kept->tasks.size() > 50);
    CHECK(kept->tasks.size() <= 100);
    CHECK(kept->one_in == 128);
    std::size_t short_ones = 0;
    for (const weir::task_sample& each : kept->tasks) short_ones += each.run == 1ms ? 1U : 0U;
    CHECK(short_ones > kept->tasks.size() / 4);
    CHECK(short_ones < kept->tasks.size() * 3 / 4);
}

TEST_CASE("a run without a recording, and one without a consumer, have no times of a consumer") {
    CHECK_FALSE(stats_of({1ms}, 9, 0).consumer);
    weir::virtual_time clock;
    auto run =
        (weir::source(std::views::iota(0, 9)) | weir::for_each([](int) {})).start(clock, {.recording = 9});
    run.wait();
    CHECK_FALSE(run.stats().consumer);
}

TEST_CASE("the time of an item goes on after a call that ran out of time") {
    weir::virtual_time clock;
    const auto slowly = [](int k) -> weir::task<int> {
        co_await weir::sleep_for(10ms);
        co_return k;
    };
    auto run = (weir::source(std::views::iota(0, 2)) | weir::pipe(slowly) | weir::sink())
                   .start(clock, {.recording = 9});
    REQUIRE(run.get());
    weir::sync_wait(clock, weir::sleep_for(4ms));
    REQUIRE_FALSE(run.get(1ms));
    weir::sync_wait(clock, weir::sleep_for(2ms));
    REQUIRE(run.get());
    REQUIRE_FALSE(run.get());
    const std::optional<weir::task_samples> kept = run.stats().consumer;
    REQUIRE(kept);
    REQUIRE(kept->tasks.size() == 2);
    CHECK(kept->tasks[0].run == 6ms);
    CHECK(kept->tasks[1].run == 0ms);
}

TEST_CASE("in a run with epochs, the end of an epoch is no item of the consumer") {
    weir::virtual_time clock;
    const std::vector<int> data{1, 2};
    auto run = (weir::source(weir::epochs(data, 2)) | weir::sink()).start(clock, {.recording = 9});
    const auto consume_epochs = [](auto& from) -> weir::task<> {
        for (int epoch = 0; epoch < 2; ++epoch) {
            while (true) {
                const auto item = co_await from.next_in_epoch();
                if (!item) break;
                co_await weir::sleep_for(5ms);
            }
        }
        static_cast<void>(co_await from.next());
    };
    weir::sync_wait(clock, consume_epochs(run));
    const std::optional<weir::task_samples> kept = run.stats().consumer;
    REQUIRE(kept);
    REQUIRE(kept->tasks.size() == 4);
    for (const weir::task_sample& each : kept->tasks) CHECK(each.run == 5ms);
}

TEST_CASE("consumers that take turns are one; of consumers that call at once no times are known") {
    weir::virtual_time clock;
    weir::detail::consumer_sampler turns(9, clock);
    for (int i = 0; i < 3; ++i) {
        turns.called();
        turns.returned(true);
    }
    turns.called();
    turns.ended();
    REQUIRE(turns.samples());
    CHECK(turns.samples()->tasks.size() == 3);

    weir::detail::consumer_sampler both(9, clock);
    both.called();
    both.called();
    both.returned(true);
    CHECK_FALSE(both.samples());
}
