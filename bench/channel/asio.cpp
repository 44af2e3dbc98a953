#include "scenario.hpp"

#include <asio/co_spawn.hpp>
#include <asio/experimental/concurrent_channel.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <future>
#include <vector>

namespace {

// The pool's own executor type, and not any_io_executor, saves a call through a pointer.
using executor = asio::thread_pool::executor_type;
using task = asio::awaitable<void, executor>;
constexpr asio::use_awaitable_t<executor> awaiting;
template <class T>
using channel = asio::experimental::concurrent_channel<executor, void(asio::error_code, T)>;

template <class T>
struct awaits {
    static task produce(channel<T>& out, std::uint64_t count) {
        T item{};
        for (std::uint64_t i = 0; i < count; ++i) {
            set(item, i);
            co_await out.async_send(asio::error_code(), std::move(item), awaiting);
        }
    }
    static task consume(channel<T>& in, std::uint64_t count, tally& sums) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            const T item = co_await in.async_receive(awaiting);
            sum += number(item);
        }
        sums.add(sum);
    }
};

template <class T>
struct tries_first {
    static task produce(channel<T>& out, std::uint64_t count) {
        T item{};
        for (std::uint64_t i = 0; i < count; ++i) {
            set(item, i);
            const bool sent = out.try_send(asio::error_code(), std::move(item));
            if (sent) continue;  // otherwise the item was not moved
            co_await out.async_send(asio::error_code(), std::move(item), awaiting);
        }
    }
    static task consume(channel<T>& in, std::uint64_t count, tally& sums) {
        std::uint64_t sum = 0;
        const auto take = [&sum](asio::error_code, const T& item) { sum += number(item); };
        for (std::uint64_t i = 0; i < count; ++i) {
            const bool received = in.try_receive(take);
            if (received) continue;
            const T item = co_await in.async_receive(awaiting);
            sum += number(item);
        }
        sums.add(sum);
    }
};

template <class T, class Way>
void pass(asio::thread_pool& pool, const scenario<T>& s, std::uint64_t n) {
    channel<T> items(pool.get_executor(), s.capacity);
    tally sums;
    std::vector<std::future<void>> ends;
    for (std::size_t i = 0; i < s.producers; ++i) {
        const std::uint64_t count = share(n, s.producers, i);
        ends.push_back(asio::co_spawn(pool.get_executor(), Way::produce(items, count), asio::use_future));
    }
    for (std::size_t i = 0; i < s.consumers; ++i) {
        const std::uint64_t count = share(n, s.consumers, i);
        ends.push_back(
            asio::co_spawn(pool.get_executor(), Way::consume(items, count, sums), asio::use_future));
    }
    for (std::future<void>& end : ends) end.get();
    sums.check(n, s.producers);
}

struct asio_channels {
    template <class T>
    static void add(bench::group& g, const scenario<T>& s) {
        const auto pool = std::make_shared<asio::thread_pool>(s.workers);
        if (s.all_ways) {
            g.peer("asio", [s, pool](std::uint64_t n) { pass<T, awaits<T>>(*pool, s, n); });
        }
        g.peer("asio, try first", [s, pool](std::uint64_t n) { pass<T, tries_first<T>>(*pool, s, n); });
    }
};

const for_all_items<asio_channels> joined;

}  // namespace
