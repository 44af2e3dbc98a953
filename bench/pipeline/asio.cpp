// Asio: coroutines over its channels, which first try an operation, and wait only if it fails.
#include "scenario.hpp"

#include <asio/co_spawn.hpp>
#include <asio/experimental/concurrent_channel.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace bench::stages;

// The pool's own executor type, and not any_io_executor, saves a call through a pointer.
using executor = asio::thread_pool::executor_type;
using task = asio::awaitable<void, executor>;
using queue = asio::experimental::concurrent_channel<executor, void(asio::error_code, item)>;
constexpr asio::use_awaitable_t<executor> awaiting;

task end(queue& out, std::size_t readers) {
    for (std::size_t i = 0; i < readers; ++i) {
        co_await out.async_send(asio::error_code(), end_of_stream, awaiting);
    }
}

task give(queue& out, std::uint64_t n, std::size_t readers) {
    for (item x = 0; x < n; ++x) {
        const bool sent = out.try_send(asio::error_code(), x);
        if (!sent) co_await out.async_send(asio::error_code(), x, awaiting);
    }
    co_await end(out, readers);
}

bool try_get(queue& in, item& x) {
    return in.try_receive([&x](asio::error_code, item got) { x = got; });
}

task slot(queue& in, queue& out, const scenario& s, std::atomic<std::size_t>& present, std::size_t readers) {
    while (true) {
        item x = 0;
        const bool got = try_get(in, x);
        if (!got) x = co_await in.async_receive(awaiting);
        if (x == end_of_stream) break;
        x = s.stage(x);
        const bool sent = out.try_send(asio::error_code(), x);
        if (!sent) co_await out.async_send(asio::error_code(), x, awaiting);
    }
    if (present.fetch_sub(1) == 1) co_await end(out, readers);
}

task take(queue& in, totals& seen) {
    while (true) {
        item x = 0;
        const bool got = try_get(in, x);
        if (!got) x = co_await in.async_receive(awaiting);
        if (x == end_of_stream) break;
        seen.add(x);
    }
}

void through_channels(asio::thread_pool& pool, const scenario& s, std::uint64_t n) {
    std::vector<std::unique_ptr<queue>> queues;
    for (std::size_t i = 0; i <= num_stages; ++i) {
        queues.push_back(std::make_unique<queue>(pool.get_executor(), s.capacity));
    }
    std::vector<std::atomic<std::size_t>> present(num_stages);
    totals seen;
    std::vector<std::future<void>> parts;
    const auto spawn = [&](task part) {
        parts.push_back(asio::co_spawn(pool, std::move(part), asio::use_future));
    };
    spawn(give(*queues.front(), n, s.slots));
    for (std::size_t i = 0; i < num_stages; ++i) {
        present[i] = s.slots;
        const std::size_t readers = i + 1 < num_stages ? s.slots : 1;
        for (std::size_t j = 0; j < s.slots; ++j) {
            spawn(slot(*queues[i], *queues[i + 1], s, present[i], readers));
        }
    }
    spawn(take(*queues.back(), seen));
    for (std::future<void>& part : parts) part.get();
    seen.expect(n);
}

const bench::contestants<scenario> asio_contestants([](bench::group& group, const scenario& s) {
    if (s.work_ns != 0) return;
    const auto pool = std::make_shared<asio::thread_pool>(s.workers);
    group.peer("Asio channels, try first", [=](std::uint64_t n) { through_channels(*pool, s, n); });
});

}  // namespace
