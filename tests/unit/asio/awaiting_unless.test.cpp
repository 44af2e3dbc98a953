#include <weir/asio/awaiting_unless.hpp>

#include "support/catch.hpp"
#include "unit/asio/support.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <ranges>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include WEIR_ASIO_FILE(buffer.hpp)
#include WEIR_ASIO_FILE(post.hpp)
#include WEIR_ASIO_FILE(read.hpp)
#include WEIR_ASIO_FILE(steady_timer.hpp)

using sockets::is_aborted;
using sockets::served;
using weir::stop_source;
using weir::stop_token;
using weir::sync_wait;
using weir::task;
using weir::thread_pool;
using weir::asio::awaiting_unless;
using namespace std::chrono_literals;
namespace lib = weir::asio::lib;

namespace {

task<bool> sleeps(lib::io_context& io, std::chrono::steady_clock::duration d, stop_token stop) {
    lib::steady_timer timer(io, d);
    const auto [error] = co_await timer.async_wait(awaiting_unless(stop).as_tuple());
    if (error && !is_aborted(error)) throw std::system_error(error);
    co_return !error;
}

task<> asks(stop_source stop) {
    stop.request_stop();
    co_return;
}

}  // namespace

TEST_CASE("a stop that was asked for before cancels what begins after it") {
    served net;
    stop_source stop;
    stop.request_stop();
    CHECK_FALSE(sync_wait(sleeps(net.io, 24h, stop.get_token())));
}

TEST_CASE("a stop cancels what is under way; without one it ends as ever") {
    served net;
    thread_pool pool(2);
    stop_source stop;
    auto [slept, nothing] =
        sync_wait(pool, weir::when_all(sleeps(net.io, 24h, stop.get_token()), asks(stop)));
    static_cast<void>(nothing);
    CHECK_FALSE(slept);
    CHECK(sync_wait(pool, sleeps(net.io, 1ms, stop_source().get_token())));
    CHECK(sync_wait(pool, sleeps(net.io, 1ms, {})));
}

TEST_CASE("a stop cancels an operation of several parts, and tells what was done until then") {
    served net;
    thread_pool pool(2);
    sockets::pair both(net.io);
    stop_source stop;
    both.far.send(lib::buffer("ab", 2));
    const auto reads = [&]() -> task<> {
        char three[3];
        co_await both.near.async_wait(sockets::tcp::socket::wait_read, weir::asio::awaiting);
        auto [result, nothing] = co_await weir::when_all(
            [](auto& from, auto& to, stop_token until) -> task<std::pair<std::error_code, std::size_t>> {
                const auto [error, n] =
                    co_await lib::async_read(from, lib::buffer(to),
                                             awaiting_unless(std::move(until)).as_tuple());
                co_return std::pair<std::error_code, std::size_t>(error, n);
            }(both.near, three, stop.get_token()),
            asks(stop));
        static_cast<void>(nothing);
        CHECK(is_aborted(result.first));
        CHECK(result.second <= 2);
    };
    sync_wait(pool, reads());
}

TEST_CASE("a stop that comes when the operation has ended does nothing, also where its object is gone") {
    served net;
    stop_source stop;
    const auto waits = [&]() -> task<> {
        co_await lib::post(net.io, awaiting_unless(stop.get_token()));
        lib::steady_timer timer(net.io, 0ms);
        co_await timer.async_wait(awaiting_unless(stop.get_token()));
    };
    sync_wait(waits());
    stop.request_stop();
}

TEST_CASE("an operation and its stop on different threads, many times over: it ends once, one way or other") {
    served net(2);
    thread_pool pool(2);
    std::size_t ended = 0;
    for (int i = 0; i < 300; ++i) {
        stop_source stop;
        sockets::pair both(net.io);
        const auto reads = [&]() -> task<std::size_t> {
            char four[4];
            const auto [error, n] = co_await lib::async_read(both.near, lib::buffer(four),
                                                             awaiting_unless(stop.get_token()).as_tuple());
            CHECK((n == 4) == !error);
            co_return 1;
        };
        const auto writes = [&]() -> task<> {
            both.far.send(lib::buffer("ab", 2));
            both.far.send(lib::buffer("cd", 2));
            co_return;
        };
        auto all = sync_wait(pool, weir::when_all(reads(), writes(), asks(stop)));
        ended += std::get<0>(all);
    }
    CHECK(ended == 300);
}

TEST_CASE("a run that ends early cancels what its stages wait for") {
    served net;
    thread_pool pool(2);
    std::atomic<int> begun = 0, aborted = 0;
    const auto read = [&](int n, const weir::invocation& call) -> task<int> {
        if (n == 0) co_return n;
        sockets::pair both(net.io);  // nobody ever writes
        char c = 0;
        ++begun;
        const auto [error, size] =
            co_await both.near.async_read_some(lib::buffer(&c, 1), awaiting_unless(call.stop()).as_tuple());
        aborted += is_aborted(error) ? 1 : 0;
        co_return static_cast<int>(size);
    };
    {
        auto run = (weir::source(std::views::iota(0, 4)) |
                    weir::pipe(read, {.name = "read", .concurrency = 4}) | weir::sink())
                       .start(pool);
        CHECK(run.get() == 0);
        while (begun < 3) std::this_thread::yield();
    }
    CHECK(aborted == 3);
}
