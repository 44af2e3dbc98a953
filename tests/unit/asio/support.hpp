// What the tests of the Asio adapter share: a context with threads, and sockets that are connected.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_ASIO_SUPPORT_HPP
#define WEIR_TESTS_ASIO_SUPPORT_HPP

#include <weir/asio/io_executor.hpp>
#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>

#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

#include WEIR_ASIO_FILE(executor_work_guard.hpp)
#include WEIR_ASIO_FILE(io_context.hpp)
// clang-format off
#include WEIR_ASIO_FILE(ip/tcp.hpp)
// clang-format on

namespace sockets {

namespace lib = weir::asio::lib;
using tcp = lib::ip::tcp;

// A context that threads run until it is destroyed.
class served {
  public:
    explicit served(std::size_t threads = 1) {
        for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { io.run(); });
    }
    served(const served&) = delete;
    served& operator=(const served&) = delete;
    ~served() {
        work_.reset();
        for (std::thread& t : threads_) t.join();
    }

    lib::io_context io;

  private:
    lib::executor_work_guard<lib::io_context::executor_type> work_{io.get_executor()};
    std::vector<std::thread> threads_;
};

inline tcp::endpoint any_port() { return {lib::ip::address_v4::loopback(), 0}; }

// Two sockets on this machine, connected with each other.
class pair {
  public:
    explicit pair(lib::io_context& io) : near(io), far(io) {
        tcp::acceptor door(io, any_port());
        near.connect(door.local_endpoint());
        door.accept(far);
    }

    tcp::socket near, far;
};

// True where a coroutine runs on `ex`.
inline bool runs_on(const weir::executor& ex) { return weir::detail::current_executor() == &ex; }

inline bool is_aborted(std::error_code e) {
    return e == static_cast<std::error_code>(make_error_code(lib::error::operation_aborted));
}

}  // namespace sockets

#endif
