// performance_analysis: an HTTP server in the same program. Its answers become slower over time, and some are very late.
// Also a GET from it.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_PERFORMANCE_ANALYSIS_SERVER_HPP
#define WEIR_EXAMPLES_PERFORMANCE_ANALYSIS_SERVER_HPP

#include <weir/asio/awaiting.hpp>
#include <weir/asio/io_executor.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <asio.hpp>

#include <chrono>        // for std::chrono::milliseconds
#include <cmath>         // for std::exp
#include <random>        // for std::mt19937
#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <system_error>  // for std::system_error
#include <thread>        // for std::thread

namespace performance_analysis {

using asio::ip::tcp;
using weir::asio::awaiting;

/// Serves from construction to destruction, on its own thread, which runs all sockets.
class server {
  public:
    server() : serving_(on_io_), thread_([this] { io_.run(); }) { serving_.spawn(serve()); }
    server(const server&) = delete;
    ~server() {
        asio::post(io_, [this] { door_.close(); });
        weir::sync_wait(serving_.join());
        work_.reset();
        thread_.join();
    }

    /// One GET of a path, on a connection of its own. Resumes on the executor of the awaiting coroutine.
    weir::task<std::string> get(std::string path) {
        tcp::socket socket(io_);
        co_await socket.async_connect(at_, awaiting);
        const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
        co_await asio::async_write(socket, asio::buffer(request), awaiting);
        std::string answer;
        const auto [error, size] =
            co_await asio::async_read(socket, asio::dynamic_buffer(answer), awaiting.as_tuple());
        if (error != asio::error::eof) throw std::system_error(error);
        if (!answer.starts_with("HTTP/1.1 200 ")) throw std::runtime_error(answer.substr(0, 40));
        co_return answer.substr(answer.find("\r\n\r\n") + 4);
    }

  private:
    weir::task<> serve() {
        weir::task_group answers(on_io_);
        while (true) {
            auto [error, client] = co_await door_.async_accept(awaiting.as_tuple());
            if (error) break;
            answers.spawn(answer(std::move(client)));
        }
        co_await answers.join();
    }

    // A client that closes its connection early is ignored.
    weir::task<> answer(tcp::socket client) {
        std::string request;
        const auto [error, size] = co_await asio::async_read_until(client, asio::dynamic_buffer(request),
                                                                   "\r\n\r\n", awaiting.as_tuple());
        if (error) co_return;
        co_await weir::sleep_for(delay());
        const std::string all = "HTTP/1.1 200 OK\r\n\r\n" + std::string(20'000 + random_() % 20'000, 'x');
        static_cast<void>(co_await asio::async_write(client, asio::buffer(all), awaiting.as_tuple()));
    }

    // About 40 ms, half as much again after some minutes; one answer of two thousand takes more than a second.
    std::chrono::milliseconds delay() {
        const double minutes = std::chrono::duration<double>(on_io_.now() - begin_).count() / 60;
        const double usual = 40 * (1.5 - 0.5 * std::exp(-minutes)) *
                             std::exp(std::normal_distribution<double>(0, 0.3)(random_));
        const bool late = random_() % 2000 == 0;
        return std::chrono::milliseconds(static_cast<int>(late ? 1000 + usual * 10 : usual));
    }

    asio::io_context io_;
    weir::asio::io_executor on_io_{io_};
    tcp::acceptor door_{io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    const tcp::endpoint at_ = door_.local_endpoint();
    const weir::time_point begin_ = on_io_.now();
    std::mt19937 random_{1};  // used only by the thread of the server
    weir::task_group serving_;
    asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
    std::thread thread_;
};

}  // namespace performance_analysis

#endif
