// The cost of an item that passes from coroutine to coroutine through a bounded channel.
#include "scenario.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/measure/policy.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

template <class T, class Policy>
weir::task<> produce(weir::channel<T, Policy>& out, std::uint64_t count) {
    T item{};
    for (std::uint64_t i = 0; i < count; ++i) {
        set(item, i);
        co_await out.put(std::move(item));
    }
}

template <class T, class Policy>
weir::task<> consume(weir::channel<T, Policy>& in, std::uint64_t count, tally& sums) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto item = co_await in.get();
        sum += number(*item);
    }
    sums.add(sum);
}

// The same in batches of at most half the channel.
template <class T, class Policy>
weir::task<> produce_in_batches(weir::channel<T, Policy>& out, std::uint64_t count, std::size_t batch) {
    std::vector<T> items(batch);
    for (std::uint64_t i = 0; i < count;) {
        const std::size_t n = std::min<std::uint64_t>(batch, count - i);
        for (std::size_t j = 0; j < n; ++j) set(items[j], i + j);
        for (std::size_t put = 0; put < n;)
            put += co_await out.put_some(std::span(items).subspan(put, n - put));
        i += n;
    }
}

template <class T, class Policy>
weir::task<> consume_in_batches(weir::channel<T, Policy>& in, std::uint64_t count, std::size_t batch,
                                tally& sums) {
    std::vector<T> items(batch);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count;) {
        const std::size_t most = std::min<std::uint64_t>(batch, count - i);
        const std::size_t n = co_await in.get_some(std::span(items).first(most));
        for (std::size_t j = 0; j < n; ++j) sum += number(items[j]);
        i += n;
    }
    sums.add(sum);
}

template <class T, class Policy>
void pass(weir::thread_pool& pool, const scenario<T>& s, std::uint64_t n, std::size_t batch = 0) {
    weir::channel<T, Policy> items(s.capacity, pool);
    tally sums;
    std::vector<weir::task<>> tasks;
    for (std::size_t i = 0; i < s.producers; ++i) {
        const std::uint64_t part = share(n, s.producers, i);
        tasks.push_back(batch == 0 ? produce(items, part) : produce_in_batches(items, part, batch));
    }
    for (std::size_t i = 0; i < s.consumers; ++i) {
        const std::uint64_t part = share(n, s.consumers, i);
        tasks.push_back(batch == 0 ? consume(items, part, sums)
                                   : consume_in_batches(items, part, batch, sums));
    }
    weir::sync_wait(pool, weir::when_all(std::move(tasks)));
    sums.check(n, s.producers);
}

template <class T>
void run(bench::session& session, const scenario<T>& s, const std::string& item) {
    const std::string title = std::to_string(s.producers) + " to " + std::to_string(s.consumers) +
                              ", capacity " + std::to_string(s.capacity) + ", " + item + ", " +
                              bench::count(s.workers, "worker");
    if (!session.wants(title)) return;
    bench::group group(session, title, "an item");
    const auto pool = std::make_shared<weir::thread_pool>(s.workers);
    group.ours("weir", [=](std::uint64_t n) { pass<T, weir::unmeasured>(*pool, s, n); });
    if (s.all_ways || s.producers != 1 || s.capacity == 2) {
        group.ours("weir, measured", [=](std::uint64_t n) { pass<T, weir::measured>(*pool, s, n); });
    }
    if (s.capacity >= 64) {
        const std::size_t batch = s.capacity / 2;
        group.ours("weir, in batches",
                   [=](std::uint64_t n) { pass<T, weir::unmeasured>(*pool, s, n, batch); });
        if (s.all_ways) {
            group.ours("weir, measured, in batches",
                       [=](std::uint64_t n) { pass<T, weir::measured>(*pool, s, n, batch); });
        }
    }
    bench::contestants<scenario<T>>::join(group, s);
    group.run();
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("channel", argc, argv);
    for (const unsigned workers : session.workers()) {
        for (const std::size_t capacity : {1U, 2U, 64U, 1024U}) {
            const bool all_ways = capacity == 1 || capacity == 64;
            run<int>(session, {1, 1, capacity, workers, all_ways}, "int");
        }
        for (const std::size_t n : {4U, 16U}) run<int>(session, {n, n, 64, workers}, "int");
        run<block<64>>(session, {1, 1, 64, workers}, "64 bytes");
        run<block<4096>>(session, {1, 1, 64, workers}, "4 KiB");
        run<pointer>(session, {1, 1, 64, workers}, "unique_ptr");
    }
    constexpr unsigned many = 8;
    if (std::ranges::count(session.workers(), many) != 0) return 0;
    for (const std::size_t n : {1U, 4U}) run<int>(session, {n, n, 64, many}, "int");
}
