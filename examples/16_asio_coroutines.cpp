// Shows coroutines of Asio and of weir that await each other. A server of Asio's coroutines puts lines into a channel,
// a pipeline processes them, and one of its stages is a coroutine of Asio again.
#include <weir/asio/awaited.hpp>
#include <weir/asio/io_executor.hpp>
#include <weir/asio/native_awaitable.hpp>
#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>

#include <asio.hpp>

#include <cstddef>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

namespace net = asio;
using net::ip::tcp;
using weir::asio::awaited;

// A coroutine of Asio. While the channel is full it waits, and so does the client at the other end of the socket.
net::awaitable<void> receive(tcp::acceptor& door, weir::channel<std::string>& lines) {
    tcp::socket client = co_await door.async_accept(net::use_awaitable);
    std::string text;
    while (true) {
        const std::size_t n =
            co_await net::async_read_until(client, net::dynamic_buffer(text), '\n', net::use_awaitable);
        const std::string line = text.substr(0, n - 1);
        text.erase(0, n);
        if (line.empty()) break;
        const bool taken = co_await awaited(lines.put(line));
        if (!taken) break;
    }
    lines.close();
}

net::awaitable<void> send(tcp::endpoint where, int count) {
    tcp::socket server(co_await net::this_coro::executor);
    co_await server.async_connect(where, net::use_awaitable);
    for (int i = 1; i <= count; ++i) {
        const std::string line = std::to_string(i) + '\n';
        co_await net::async_write(server, net::buffer(line), net::use_awaitable);
    }
    co_await net::async_write(server, net::buffer("\n", 1), net::use_awaitable);
}

// A stage that is a coroutine of Asio, too. It could ask a service for the answer.
net::awaitable<int> look_up(std::string key) {
    co_await net::post(co_await net::this_coro::executor, net::use_awaitable);
    co_return std::stoi(key);
}

int main() {
    net::io_context io;
    weir::asio::io_executor on_io(io);
    weir::channel<std::string> lines(2);
    tcp::acceptor door(io, tcp::endpoint(net::ip::address_v4::loopback(), 0));
    net::co_spawn(io, receive(door, lines), net::detached);
    net::co_spawn(io, send(door.local_endpoint(), 100), net::detached);
    auto work = net::make_work_guard(io);
    std::thread runs_sockets([&] { io.run(); });

    weir::thread_pool pool(2);
    const auto next = [&lines]() -> weir::task<std::optional<std::string>> {
        co_return co_await lines.get();
    };
    // clang-format off
    auto pipeline = weir::source(next)
                  | weir::pipe(look_up, {.name = "look_up", .concurrency = 4, .executor = &on_io})
                  | weir::pipe([](int n) { return n * n; }, {.name = "square"})
                  | weir::sink(2);
    // clang-format on
    long sum = 0;
    {
        auto run = pipeline.start(pool);
        // The consumer may be a coroutine of Asio, too.
        const auto adds = [&]() -> net::awaitable<long> {
            long all = 0;
            while (const std::optional<int> n = co_await awaited(run.next())) all += *n;
            co_return all;
        };
        sum = net::co_spawn(io, adds(), net::use_future).get();
    }
    work.reset();
    runs_sockets.join();
    std::cout << "the squares from 1 to 100 sum to " << sum << '\n';
    return sum == 338'350 ? 0 : 1;
}
