// load [ITEMS]: a thousand million items through four stages, the last with four slots that keep the order
// of their batches, and then through one channel with four producers and four consumers. Fails if an item
// is missing, doubled, changed or out of order; prints how many passed a second.
#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using number = std::uint64_t;

struct digest {
    number count = 0;
    number sum = 0;
    number x_or = 0;

    void add(number n) {
        ++count;
        sum += n;
        x_or ^= n;
    }
    void add(const digest& other) {
        count += other.count;
        sum += other.sum;
        x_or ^= other.x_or;
    }
    bool operator==(const digest&) const = default;
};

// Of the numbers below n.
digest digest_below(number n) {
    digest d;
    d.count = n;
    d.sum = n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
    const number last = n - 1;
    if (n != 0) d.x_or = last % 4 == 0 ? last : last % 4 == 1 ? 1 : last % 4 == 2 ? last + 1 : 0;
    return d;
}

// What the second undoes: an odd factor and its inverse modulo 2^64, by Newton's method.
constexpr number factor = 0x9e3779b97f4a7c15ULL;
constexpr number inverse_of(number odd) {
    number x = odd;
    for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
    return x;
}
number scramble(number n) { return n * factor ^ 0x5bd1e995; }
std::vector<number> unscramble(std::vector<number>&& all) {
    for (number& n : all) n = (n ^ 0x5bd1e995) * inverse_of(factor);
    return std::move(all);
}

class stopwatch {
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

  public:
    // "12.3 s, 8.1 million items a second, 123 ns each"
    std::string rate(number items) const {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
        const double each = passed.count() * 1e9 / static_cast<double>(items);
        return std::to_string(passed.count()) + " s, " + std::to_string(1e3 / each) +
               " million items a second, " + std::to_string(each) + " ns each";
    }
};

bool tell(const std::string& what, bool right, const stopwatch& watch, number items) {
    std::cout << what << ": " << (right ? "right" : "WRONG") << ", " << watch.rate(items) << std::endl;
    return right;
}

bool through_stages(weir::thread_pool& pool, number items) {
    const stopwatch watch;
    constexpr std::size_t batch = 50;
    auto run = (weir::source(std::views::iota(number{0}, items), {.capacity = 64}) |
                weir::pipe(scramble, {.name = "scramble", .capacity = 64}) |
                weir::aggregate(batch, {.capacity = 16}) |
                weir::pipe(unscramble, {.name = "unscramble",
                                        .concurrency = 4,
                                        .output_order = weir::output_order::input,
                                        .capacity = 16}) |
                weir::sink(16))
                   .start(pool);
    digest got;
    number out_of_order = 0;
    for (const std::vector<number>& all : run) {
        for (const number n : all) {
            if (n != got.count) ++out_of_order;
            got.add(n);
        }
    }
    const auto stats = run.stats();
    const number batches = (items + batch - 1) / batch;
    bool counted = false;
    for (const auto& stage : stats.stages) {
        if (stage.name == "scramble") counted = stage.num_tasks == items;
    }
    for (const auto& stage : stats.stages) {
        if (stage.name == "unscramble") counted = counted && stage.num_tasks == batches;
    }
    if (out_of_order != 0) std::cout << out_of_order << " items were out of order\n";
    if (!counted) std::cout << "the statistics count other items\n";
    return tell("four stages", got == digest_below(items) && out_of_order == 0 && counted, watch, items);
}

constexpr number producers = 4;
constexpr int place_of_producer = 56;  // in an item: bits above its number in the producer's sequence

weir::task<> produce(weir::channel<number>& out, number who, number items, number& left) {
    for (number n = 0; n < items; ++n) {
        const bool taken = co_await out.put(who << place_of_producer | n);
        if (!taken) break;
    }
    // All run on one executor with several threads.
    if (std::atomic_ref(left).fetch_sub(1) == 1) out.close();
}

struct seen {
    digest of[producers];
    number overtaken = 0;
};

weir::task<seen> consume(weir::channel<number>& in) {
    seen all;
    number next[producers] = {};
    while (const auto item = co_await in.get()) {
        const number who = *item >> place_of_producer;
        const number n = *item & ((number{1} << place_of_producer) - 1);
        if (who >= producers || n < next[who]) {
            ++all.overtaken;
            continue;
        }
        next[who] = n + 1;
        all.of[who].add(n);
    }
    co_return all;
}

weir::task<std::vector<seen>> consume_by_four(weir::channel<number>& in) {
    std::vector<weir::task<seen>> consumers;
    for (int i = 0; i < 4; ++i) consumers.push_back(consume(in));
    co_return co_await weir::when_all(std::move(consumers));
}

weir::task<> produce_by_four(weir::channel<number>& out, number items_of_each, number& left) {
    std::vector<weir::task<>> all;
    for (number who = 0; who < producers; ++who) {
        all.push_back(produce(out, who, items_of_each, left));
    }
    co_await weir::when_all(std::move(all));
}

bool four_to_four(weir::thread_pool& pool, number items) {
    const stopwatch watch;
    const number each = items / producers;
    weir::channel<number> between(64, pool);
    number left = producers;
    const auto results =
        weir::sync_wait(pool, weir::when_all(produce_by_four(between, each, left), consume_by_four(between)));
    bool right = true;
    digest got[producers];
    for (const seen& consumer : std::get<1>(results)) {
        for (number who = 0; who < producers; ++who) got[who].add(consumer.of[who]);
        right = right && consumer.overtaken == 0;
    }
    for (const digest& of_one : got) right = right && of_one == digest_below(each);
    return tell("four producers, one channel, four consumers", right, watch, each * producers);
}

}  // namespace

int main(int argc, char** argv) try {
    const number items = argc > 1 ? std::stoull(argv[1]) : 1'000'000'000;
    weir::thread_pool pool;
    std::cout << items << " items, " << pool.workers() << " workers" << std::endl;
    const bool staged = through_stages(pool, items);
    const bool handed = four_to_four(pool, items);
    return staged && handed ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
}
