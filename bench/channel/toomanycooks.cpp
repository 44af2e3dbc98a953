// TooManyCooks: its bounded queue for one producer and one consumer; otherwise its channel, bounded by a semaphore.
#define TMC_IMPL
#include "common/toomanycooks.hpp"

#include "scenario.hpp"

#include <vector>

namespace {

template <class T>
struct bounded_queue {
    using queue = tmc::qu_spsc_bounded<T>;

    static tmc::task<void> produce(queue& out, std::uint64_t count) {
        T item{};
        for (std::uint64_t i = 0; i < count; ++i) {
            set(item, i);
            co_await out.push(std::move(item));
        }
    }
    static tmc::task<void> consume(queue& in, std::uint64_t count, tally& sums) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            auto item = co_await in.pull();
            sum += number(item.value());
        }
        sums.add(sum);
    }
};

template <class T>
struct bounded_channel {
    struct queue {
        explicit queue(std::size_t capacity) : room(static_cast<tmc::semaphore::half_word>(capacity)) {}
        tmc::chan_tok<T> items = tmc::make_channel<T>();
        tmc::semaphore room;
    };

    static tmc::task<void> produce(queue& q, std::uint64_t count) {
        tmc::chan_tok<T> out = q.items;
        T item{};
        for (std::uint64_t i = 0; i < count; ++i) {
            set(item, i);
            co_await q.room;
            co_await out.push(std::move(item));
        }
    }
    static tmc::task<void> consume(queue& q, std::uint64_t count, tally& sums) {
        tmc::chan_tok<T> in = q.items;
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto item = co_await in.pull();
            sum += number(*item);
            co_await q.room.co_release();
        }
        sums.add(sum);
    }
};

template <class T, class Way>
void pass(bench::toomanycooks& executor, const scenario<T>& s, std::uint64_t n) {
    typename Way::queue items(s.capacity);
    tally sums;
    const auto all = [&]() -> tmc::task<void> {
        std::vector<tmc::task<void>> parts;
        for (std::size_t i = 0; i < s.producers; ++i) {
            parts.push_back(Way::produce(items, share(n, s.producers, i)));
        }
        for (std::size_t i = 0; i < s.consumers; ++i) {
            parts.push_back(Way::consume(items, share(n, s.consumers, i), sums));
        }
        co_await tmc::spawn_many(parts.data(), parts.size());
    };
    executor.run(all());
    sums.check(n, s.producers);
}

struct toomanycooks_queues {
    template <class T>
    static void add(bench::group& g, const scenario<T>& s) {
        const auto executor = std::make_shared<bench::toomanycooks>(s.workers);
        if (s.producers == 1 && s.consumers == 1) {
            g.peer("TooManyCooks, bounded queue",
                   [=](std::uint64_t n) { pass<T, bounded_queue<T>>(*executor, s, n); });
            if (!s.all_ways) return;
        }
        g.peer("TooManyCooks, channel and semaphore",
               [=](std::uint64_t n) { pass<T, bounded_channel<T>>(*executor, s, n); });
    }
};

const for_all_items<toomanycooks_queues> joined;

}  // namespace
