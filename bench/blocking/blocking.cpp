// The cost of an item that a plain thread puts into a channel, or gets from it, while the other side is a coroutine on
// another thread.
#include "scenario.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/measure/policy.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <utility>

namespace {

template <class Policy>
using channel = weir::channel<std::uint64_t, Policy>;

template <class Policy>
weir::task<> produce(channel<Policy>& out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) co_await out.put(i);
    out.close();
}

template <class Policy>
weir::task<std::uint64_t> consume(channel<Policy>& in) {
    std::uint64_t sum = 0;
    while (const auto item = co_await in.get()) sum += *item;
    co_return sum;
}

template <class Policy>
void thread_to_coroutine(weir::thread_pool& pool, std::size_t capacity, std::uint64_t n) {
    channel<Policy> items(capacity, pool);
    std::uint64_t sum = 0;
    bench::on_threads(2, [&](std::size_t side) {
        if (side == 0) {
            for (std::uint64_t i = 0; i < n; ++i) items.blocking_put(std::uint64_t{i});
            items.close();
        } else {
            sum = weir::sync_wait(pool, consume(items));
        }
    });
    check_sum(sum, n);
}

template <class Policy>
void coroutine_to_thread(weir::thread_pool& pool, std::size_t capacity, std::uint64_t n) {
    channel<Policy> items(capacity, pool);
    std::uint64_t sum = 0;
    bench::on_threads(2, [&](std::size_t side) {
        if (side == 0) {
            weir::sync_wait(pool, produce(items, n));
        } else {
            while (const auto item = items.blocking_get()) sum += *item;
        }
    });
    check_sum(sum, n);
}

template <class Policy>
void pipeline_to_thread(weir::thread_pool& pool, std::size_t capacity, std::uint64_t n) {
    const auto pipeline = weir::source(std::views::iota(std::uint64_t{0}, n)) | weir::sink(capacity);
    auto run = pipeline.start<Policy>(pool);
    std::uint64_t sum = 0;
    for (const std::uint64_t item : run) sum += item;
    check_sum(sum, n);
}

using way = void (*)(weir::thread_pool&, std::size_t capacity, std::uint64_t n);

void run(bench::session& session, const std::string& title, std::size_t capacity, way unmeasured,
         way measured) {
    bench::group group(session, title + ", capacity " + std::to_string(capacity), "an item");
    const auto pool = std::make_shared<weir::thread_pool>(1);
    group.ours("weir", [=](std::uint64_t n) { unmeasured(*pool, capacity, n); });
    group.ours("weir, measured", [=](std::uint64_t n) { measured(*pool, capacity, n); });
    bench::contestants<scenario>::join(group, scenario{capacity});
    group.run();
}

}  // namespace

int main(int argc, char** argv) {
    using weir::measured;
    using weir::unmeasured;
    bench::session session("blocking", argc, argv);
    for (const std::size_t capacity : {2U, 64U}) {
        run(session, "thread to coroutine", capacity, thread_to_coroutine<unmeasured>,
            thread_to_coroutine<measured>);
        run(session, "coroutine to thread", capacity, coroutine_to_thread<unmeasured>,
            coroutine_to_thread<measured>);
        run(session, "range-for over a pipeline", capacity, pipeline_to_thread<unmeasured>,
            pipeline_to_thread<measured>);
    }
}
