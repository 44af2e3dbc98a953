#include <weir/execution/scheduler_executor.hpp>

#include "support/catch.hpp"
#include "unit/execution/support.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <ranges>
#include <stdexcept>
#include <thread>

using weir::sync_wait;
using weir::task;
using weir::execution::scheduler_executor;
using namespace std::chrono_literals;

TEST_CASE("coroutines run, yield and sleep on a scheduler's context") {
    senders::context there;
    scheduler_executor on_it((senders::context::scheduler(there)));
    const auto works = [&]() -> task<int> {
        int right = std::this_thread::get_id() == there.id() ? 1 : 0;
        co_await weir::yield();
        right += std::this_thread::get_id() == there.id() ? 2 : 0;
        co_await weir::sleep_for(1ms);
        right += std::this_thread::get_id() == there.id() ? 4 : 0;
        weir::stop_source stop;
        stop.request_stop();
        right += co_await weir::sleep_for(24h, stop.get_token()) ? 0 : 8;
        co_return right;
    };
    CHECK(sync_wait(on_it, works()) == 15);
}

TEST_CASE("stages run on it, beside others on a pool") {
    senders::context there;
    scheduler_executor on_it((senders::context::scheduler(there)));
    weir::thread_pool pool(2);
    const auto works = [&](int n) -> task<int> {
        co_await weir::yield();
        if (std::this_thread::get_id() != there.id()) throw std::logic_error("elsewhere");
        co_return n + 1;
    };
    auto run =
        (weir::source(std::views::iota(0, 200)) | weir::pipe(works, {.concurrency = 3, .executor = &on_it}) |
         weir::pipe([](int n) { return 2 * n; }) | weir::sink(4))
            .start(pool);
    int sum = 0;
    for (const int n : run) sum += n;
    CHECK(sum == 200 * 201);
}
