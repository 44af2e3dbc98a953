#ifndef BENCH_CHANNEL_SCENARIO_HPP
#define BENCH_CHANNEL_SCENARIO_HPP

#include "common/check.hpp"
#include "common/harness.hpp"
#include "common/threads.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

// An item of `Bytes` bytes, which a move copies.
template <std::size_t Bytes>
struct block {
    std::uint64_t number;
    std::array<unsigned char, Bytes - sizeof(std::uint64_t)> rest;
};
using pointer = std::unique_ptr<std::uint64_t>;

inline void set(int& item, std::uint64_t number) { item = static_cast<int>(number); }
template <std::size_t Bytes>
void set(block<Bytes>& item, std::uint64_t number) {
    item.number = number;
}
inline void set(pointer& item, std::uint64_t number) { item = std::make_unique<std::uint64_t>(number); }

inline std::uint64_t number(int item) { return static_cast<std::uint64_t>(item); }
template <std::size_t Bytes>
std::uint64_t number(const block<Bytes>& item) {
    return item.number;
}
inline std::uint64_t number(const pointer& item) { return *item; }

// All contestants of a group do this: `producers` coroutines or threads put their shares of n items into one
// channel, and `consumers` get theirs.
template <class T>
struct scenario {
    using item = T;
    std::size_t producers;
    std::size_t consumers;
    std::size_t capacity;
    unsigned workers;
    bool all_ways = false;  // otherwise only the best way of each library, and no limit, to save time

    bool has_threads() const { return workers == 2; }  // a spinning thread needs its own core
};

inline std::uint64_t share(std::uint64_t n, std::size_t of, std::size_t index) {
    return n / of + (index < n % of ? 1 : 0);
}

// Sums the items that came out.
class tally {
  public:
    void add(std::uint64_t sum) { sum_.fetch_add(sum, std::memory_order_relaxed); }

    void check(std::uint64_t n, std::size_t producers) const {
        std::uint64_t expected = 0;
        for (std::size_t i = 0; i < producers; ++i) {
            const std::uint64_t count = share(n, producers, i);
            if (count != 0) expected += count * (count - 1) / 2;
        }
        bench::check(sum_ == expected, "every item comes out once");
    }

  private:
    std::atomic<std::uint64_t> sum_{0};
};

template <class T, class Producer>
void produce(Producer& out, std::uint64_t count) {
    T item{};
    for (std::uint64_t i = 0; i < count; ++i) {
        set(item, i);
        out.push(std::move(item));
    }
}

template <class T, class Consumer>
std::uint64_t consume(Consumer& in, std::uint64_t count) {
    T item{};
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        in.pop(item);
        sum += number(item);
    }
    return sum;
}

// With threads: `Producer` and `Consumer` are handles of the queue for one thread, or references to the queue.
template <class T, class Queue, class Producer = Queue&, class Consumer = Queue&>
void pass_between_threads(const scenario<T>& s, std::uint64_t n) {
    Queue queue(s.capacity);
    tally sums;
    bench::on_threads(s.producers + s.consumers, [&](std::size_t i) {
        if (i < s.producers) {
            Producer out(queue);
            produce<T>(out, share(n, s.producers, i));
        } else {
            Consumer in(queue);
            sums.add(consume<T>(in, share(n, s.consumers, i - s.producers)));
        }
    });
    sums.check(n, s.producers);
}

// Registers the contestants of `Adder::add`, for each kind of item.
template <class Adder>
class for_all_items {
    bench::contestants<scenario<int>> ints_{Adder::add};
    bench::contestants<scenario<block<64>>> lines_{Adder::add};
    bench::contestants<scenario<block<4096>>> pages_{Adder::add};
    bench::contestants<scenario<pointer>> pointers_{Adder::add};
};

#endif
