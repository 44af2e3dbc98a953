#include <weir/asio/native_awaitable.hpp>

#include "support/catch.hpp"
#include "unit/asio/support.hpp"

#include <weir/asio/io_executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/run/priority_lanes.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include WEIR_ASIO_FILE(awaitable.hpp)
#include WEIR_ASIO_FILE(post.hpp)
#include WEIR_ASIO_FILE(steady_timer.hpp)
#include WEIR_ASIO_FILE(strand.hpp)
#include WEIR_ASIO_FILE(this_coro.hpp)
#include WEIR_ASIO_FILE(use_awaitable.hpp)

namespace lib = weir::asio::lib;
using sockets::runs_on;
using weir::sync_wait;
using weir::task;
using weir::asio::io_executor;
using weir::asio::on;
using namespace std::chrono_literals;
using ints = std::vector<int>;

static_assert(weir::awaitable<lib::awaitable<int>>);
static_assert(std::is_same_v<weir::await_result_t<lib::awaitable<int>>, int>);
static_assert(std::is_same_v<weir::await_result_t<lib::awaitable<void>>, void>);

namespace {

lib::awaitable<int> theirs(int n) {
    co_await lib::post(co_await lib::this_coro::executor, lib::use_awaitable);
    if (n < 0) throw std::runtime_error("failed there");
    co_return 2 * n;
}

lib::awaitable<void> waits_for_ever(std::atomic<bool>& waits, bool& aborted) {
    lib::steady_timer timer(co_await lib::this_coro::executor, 24h);
    waits = true;
    try {
        co_await timer.async_wait(lib::use_awaitable);
    } catch (const lib::system_error& e) {
        aborted = sockets::is_aborted(e.code());
        throw;
    }
}

}  // namespace

TEST_CASE("a task on an executor of Asio's awaits its coroutines as they are, and goes on there") {
    lib::io_context io;
    io_executor on_io(io, 0);
    const auto awaits = [&]() -> task<int> {
        int sum = co_await theirs(1);
        const auto moved = []() -> lib::awaitable<std::unique_ptr<int>> {
            co_return std::make_unique<int>(3);
        };
        const std::unique_ptr<int> three = co_await moved();
        auto named = theirs(2);
        sum += co_await std::move(named);
        co_return runs_on(on_io) ? sum + *three : 0;
    };
    CHECK(sync_wait(on_io, awaits()) == 9);
    CHECK(sync_wait(on_io, theirs(5)) == 10);
    auto [a, b] = sync_wait(on_io, weir::when_all(theirs(1), theirs(2)));
    CHECK(a + b == 6);
}

TEST_CASE("so it does where lanes lead to such an executor") {
    lib::io_context io;
    io_executor on_io(io, 0);
    weir::priority_lanes lanes(on_io);
    CHECK(sync_wait(lanes.add(), theirs(5)) == 10);
}

TEST_CASE("one elsewhere says where they run, and goes on on its own executor") {
    sockets::served net(2);
    weir::thread_pool pool(1);
    io_executor on_io(net.io, 2);
    const auto strand = lib::make_strand(net.io);
    const auto awaits = [&]() -> task<int> {
        int sum = co_await on(net.io, theirs(1));
        sum += runs_on(pool) ? 0 : 100;
        sum += co_await on(strand, theirs(2));
        sum += co_await on(on_io, theirs(3));
        co_return runs_on(pool) ? sum : 0;
    };
    CHECK(sync_wait(pool, awaits()) == 12);
}

TEST_CASE("where nothing says so they are refused, on virtual time, too") {
    weir::thread_pool pool(1);
    weir::virtual_time time;
    CHECK_THROWS_AS(sync_wait(pool, theirs(1)), std::logic_error);
    CHECK_THROWS_WITH(sync_wait(time, theirs(1)),
                      Catch::Matchers::ContainsSubstring("co_await weir::asio::on(io, it)"));
}

TEST_CASE("what they throw comes out of the await") {
    lib::io_context io;
    io_executor on_io(io, 0);
    CHECK_THROWS_WITH(sync_wait(on_io, theirs(-1)), "failed there");
}

TEST_CASE("a stage's function may return one, and its run's end cancels it") {
    sockets::served net;
    weir::thread_pool pool(1);
    io_executor on_io(net.io);
    auto run =
        (weir::source(std::views::iota(1, 5)) | weir::pipe(theirs, {.concurrency = 2, .executor = &on_io}) |
         weir::pipe([&](int n) { return on(net.io, theirs(n)); }) | weir::sink())
            .start(pool);
    ints all;
    for (const int n : run) all.push_back(n);
    CHECK(std::ranges::is_permutation(all, ints{4, 8, 12, 16}));

    std::atomic<bool> waits = false;
    bool aborted = false;
    {
        const auto waits_there = [&](int) -> task<int> {
            co_await waits_for_ever(waits, aborted);
            co_return 0;
        };
        auto endless = (weir::source(std::views::iota(1, 2)) | weir::pipe(waits_there, {.executor = &on_io}) |
                        weir::sink())
                           .start(pool);
        while (!waits) std::this_thread::yield();
    }
    CHECK(aborted);
}
