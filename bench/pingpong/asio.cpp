#include "scenario.hpp"

#include <asio/co_spawn.hpp>
#include <asio/experimental/concurrent_channel.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <future>
#include <memory>

namespace {

// The pool's own executor type, and not any_io_executor, saves a call through a pointer.
using executor = asio::thread_pool::executor_type;
using task = asio::awaitable<void, executor>;
constexpr asio::use_awaitable_t<executor> awaiting;
using channel = asio::experimental::concurrent_channel<executor, void(asio::error_code, std::uint64_t)>;

struct awaits {
    static task ping(channel& there, channel& back, std::uint64_t n, std::uint64_t& sum) {
        for (std::uint64_t i = 0; i < n; ++i) {
            co_await there.async_send(asio::error_code(), i, awaiting);
            sum += co_await back.async_receive(awaiting);
        }
    }
    static task pong(channel& there, channel& back, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint64_t number = co_await there.async_receive(awaiting);
            co_await back.async_send(asio::error_code(), number + 1, awaiting);
        }
    }
};

// There is always room, so only receives may wait.
struct tries_first {
    static task ping(channel& there, channel& back, std::uint64_t n, std::uint64_t& sum) {
        const auto take = [&sum](asio::error_code, std::uint64_t number) { sum += number; };
        for (std::uint64_t i = 0; i < n; ++i) {
            const bool sent = there.try_send(asio::error_code(), i);
            bench::check(sent, "there is room for a ping");
            const bool received = back.try_receive(take);
            if (received) continue;
            sum += co_await back.async_receive(awaiting);
        }
    }
    static task pong(channel& there, channel& back, std::uint64_t n) {
        std::uint64_t number = 0;
        const auto take = [&number](asio::error_code, std::uint64_t x) { number = x; };
        for (std::uint64_t i = 0; i < n; ++i) {
            const bool received = there.try_receive(take);
            if (!received) number = co_await there.async_receive(awaiting);
            const bool sent = back.try_send(asio::error_code(), number + 1);
            bench::check(sent, "there is room for a pong");
        }
    }
};

template <class Way>
void play(asio::thread_pool& pool, std::uint64_t n) {
    const executor ex = pool.get_executor();
    channel there(ex, 1);
    channel back(ex, 1);
    std::uint64_t sum = 0;
    auto ping = asio::co_spawn(ex, Way::ping(there, back, n, sum), asio::use_future);
    auto pong = asio::co_spawn(ex, Way::pong(there, back, n), asio::use_future);
    ping.get();
    pong.get();
    check_replies(sum, n);
}

const bench::contestants<scenario> joined([](bench::group& g, const scenario& s) {
    const auto pool = std::make_shared<asio::thread_pool>(s.workers);
    g.peer("asio", [pool](std::uint64_t n) { play<awaits>(*pool, n); });
    g.peer("asio, try first", [pool](std::uint64_t n) { play<tries_first>(*pool, n); });
});

}  // namespace
