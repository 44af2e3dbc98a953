#include <weir/stages/sink_to.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

template <class T, class Policy>
std::vector<T> drained(weir::channel<T, Policy>& from) {
    std::vector<T> all;
    while (auto item = from.blocking_get()) all.push_back(*std::move(item));
    return all;
}

auto numbers(int n) { return weir::source(std::views::iota(0, n)); }

}  // namespace

TEST_CASE("a sink_to puts each item into its channel, in order, and closes it") {
    virtual_time time;
    weir::channel<int> out(2);
    auto run = (numbers(5) | weir::sink_to(out)).start(time);
    const auto take = [&out]() -> task<ints> {
        ints all;
        while (auto n = co_await out.get()) {
            all.push_back(*n);
            co_await weir::sleep_for(10ms);
        }
        co_return all;
    };
    CHECK(weir::sync_wait(time, take()) == ints{0, 1, 2, 3, 4});
    CHECK(out.closed());
    const weir::run_result all = run.wait();
    CHECK(all.items == 5);
    const weir::stage_stats& last = all.stats.stages.back();
    CHECK(last.name == "sink_to");
    CHECK(last.kind == "sink_to");
    CHECK(last.num_tasks == 5);
    // The first three are in at once, or wait for room: 3 until 10 ms, 4 until 20 ms.
    CHECK(last.times().await == 20ms);
    CHECK(flows::add_up(all.stats));
}

TEST_CASE("a channel that its consumer closes ends the run, as a consumer that leaves does") {
    weir::thread_pool pool(2);
    weir::channel<int> out(1);
    auto run = (weir::source(std::views::iota(0)) | weir::sink_to(out)).start(pool);
    CHECK(*out.blocking_get() == 0);
    CHECK(*out.blocking_get() == 1);
    out.close();
    const weir::run_result all = run.wait();
    CHECK(all.items >= 2);
    CHECK(all.items <= 3);
    CHECK(run.outcome() == weir::run_outcome::finished);
}

TEST_CASE(
    "a run that fails closes the channel behind what was finished, and says why where it is waited for") {
    virtual_time time;
    weir::channel<int> out(8);
    const auto bad = [](int n) {
        if (n == 3) throw std::runtime_error("three");
        return n;
    };
    auto run = (numbers(10) | weir::pipe(bad) | weir::sink_to(out)).start(time);
    time.run();
    CHECK(drained(out) == ints{0, 1, 2});
    CHECK_THROWS_AS(run.wait(), weir::pipeline_failure);
}

TEST_CASE("a run that is stopped while a sink_to waits for room ends, and its channel is closed") {
    weir::thread_pool pool(1);
    weir::channel<int> out(1);
    auto run = (numbers(100) | weir::sink_to(out)).start(pool);
    while (out.size() == 0) std::this_thread::yield();
    run.stop();
    CHECK(run.outcome() == weir::run_outcome::stopped);
    CHECK(out.closed());
    CHECK(drained(out) == ints{0});
}

TEST_CASE("several pipelines put into one channel that none of them closes") {
    weir::thread_pool pool(2);
    weir::channel<int> out(3);
    {
        auto a = (numbers(100) | weir::sink_to(out, {.name = "a", .closes = false})).start(pool);
        auto b = (numbers(100) | weir::sink_to(out, {.name = "b", .closes = false})).start(pool);
        int sum = 0;
        for (int i = 0; i < 200; ++i) sum += *out.blocking_get();
        CHECK(sum == 2 * 99 * 100 / 2);
        CHECK(a.wait().items + b.wait().items == 200);
    }
    CHECK(!out.closed());
}

TEST_CASE("an item becomes one of the channel, whatever that measures") {
    virtual_time time;
    weir::channel<std::string, weir::unmeasured> out(4);
    const auto word = [](int n) { return n == 0 ? "none" : "some"; };
    auto run = (numbers(2) | weir::pipe(word) | weir::sink_to(out)).start(time);
    time.run();
    CHECK(drained(out) == std::vector<std::string>{"none", "some"});
    CHECK(run.wait().items == 2);
}

TEST_CASE("an item of a sampler is taken when it is in the channel, and marks of epochs are left out") {
    virtual_time time;
    weir::channel<weir::draw> out(8);
    auto run =
        (weir::source(weir::draws(weir::sampler({.size = 2, .shuffle = false}), 2)) | weir::sink_to(out))
            .start(time);
    time.run();
    CHECK(drained(out).size() == 4);
    CHECK(run.wait().items == 4);
    CHECK(run.checkpoint().watermark() == 4);
}
