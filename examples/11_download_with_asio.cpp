// Shows stages that wait for sockets: they await Asio's operations, so no thread of the pool blocks.
// Twelve downloads at a time, from a server in the same program; one thread runs all sockets.
#include <weir/asio/awaiting.hpp>
#include <weir/asio/io_executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/report/table.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <asio.hpp>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <ranges>
#include <string>
#include <system_error>
#include <thread>

namespace net = asio;
using net::ip::tcp;
using weir::asio::awaiting;
using namespace std::chrono_literals;

// Reads a line with a number n, and after 5 ms sends n bytes.
weir::task<> answer(tcp::socket client) {
    std::string line;
    const std::size_t n = co_await net::async_read_until(client, net::dynamic_buffer(line), '\n', awaiting);
    co_await weir::sleep_for(5ms);
    const std::string page(std::stoul(line.substr(0, n)), 'x');
    co_await net::async_write(client, net::buffer(page), awaiting);
}

weir::task<> serve(tcp::acceptor& door, int clients, weir::executor& here) {
    weir::task_group answers(here);
    for (int i = 0; i < clients; ++i) answers.spawn(answer(co_await door.async_accept(awaiting)));
    co_await answers.join();
}

int main() {
    net::io_context io;
    weir::asio::io_executor on_io(io);
    tcp::acceptor door(io, tcp::endpoint(net::ip::address_v4::loopback(), 0));
    const tcp::endpoint server = door.local_endpoint();

    constexpr int requests = 100;
    weir::task_group serving(on_io);
    serving.spawn(serve(door, requests, on_io));
    auto work = net::make_work_guard(io);
    std::thread runs_sockets([&] { io.run(); });

    // Runs on the pool, and resumes there after each wait. A stop of the run cancels the pending operation.
    const auto download = [&](int n) -> weir::task<std::string> {
        tcp::socket socket(io);
        co_await socket.async_connect(server, awaiting);
        const std::string request = std::to_string(n) + '\n';
        co_await net::async_write(socket, net::buffer(request), awaiting);
        std::string page;
        const auto [error, size] =
            co_await net::async_read(socket, net::dynamic_buffer(page), awaiting.as_tuple());
        if (error != net::error::eof) throw std::system_error(error);
        co_return page;
    };

    weir::thread_pool pool(2);
    // clang-format off
    auto pipeline = weir::source(std::views::iota(0, requests))
                  | weir::pipe(download, {.name = "download", .concurrency = 12})
                  | weir::pipe([](const std::string& page) { return page.size(); }, {.name = "measure"})
                  | weir::sink(2);
    // clang-format on
    std::size_t bytes = 0;
    {
        auto run = pipeline.start(pool);
        for (const std::size_t size : run) bytes += size;
        std::cout << run.stats() << bytes << " bytes\n";
    }
    weir::sync_wait(serving.join());
    work.reset();
    runs_sockets.join();
    return bytes == requests * (requests - 1) / 2 ? 0 : 1;
}
