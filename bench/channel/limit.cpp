#include "scenario.hpp"

#include "common/bare_coroutine.hpp"

#include <atomic>
#include <coroutine>
#include <vector>

namespace {

// For one producer and one consumer, which spin. Each keeps its own index, and the last value that it read of
// the other index.
template <class T>
class spinning_ring {
  public:
    explicit spinning_ring(std::size_t capacity) : ring_(capacity) {}

    void push(T&& item) {
        if (put_ - seen_got_ == ring_.size()) {
            bench::spin_until([this] {
                seen_got_ = got_.load(std::memory_order_acquire);
                return put_ - seen_got_ < ring_.size();
            });
        }
        ring_[next_in_] = std::move(item);
        if (++next_in_ == ring_.size()) next_in_ = 0;
        shown_put_.store(++put_, std::memory_order_release);
    }

    void pop(T& item) {
        if (taken_ == seen_put_) {
            bench::spin_until([this] {
                seen_put_ = shown_put_.load(std::memory_order_acquire);
                return taken_ != seen_put_;
            });
        }
        item = std::move(ring_[next_out_]);
        if (++next_out_ == ring_.size()) next_out_ = 0;
        got_.store(++taken_, std::memory_order_release);
    }

  private:
    std::vector<T> ring_;
    alignas(128) std::atomic<std::uint64_t> shown_put_{0};
    alignas(128) std::atomic<std::uint64_t> got_{0};
    alignas(128) std::uint64_t put_ = 0;  // from here on, members of the producer
    std::uint64_t seen_got_ = 0;
    std::size_t next_in_ = 0;
    alignas(128) std::uint64_t taken_ = 0;  // member of the consumer
    std::uint64_t seen_put_ = 0;
    std::size_t next_out_ = 0;
};

// For two coroutines that always run on the same thread: no lock, no executor, no other users.
template <class T>
struct private_ring {
    explicit private_ring(std::size_t capacity) : items(capacity) {}
    std::vector<T> items;
    std::coroutine_handle<> producer;
    std::coroutine_handle<> consumer;
};

template <class T>
bench::bare_coroutine fill(private_ring<T>& ring, std::uint64_t n) {
    T item{};
    std::size_t place = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        set(item, i);
        ring.items[place] = std::move(item);
        if (++place < ring.items.size() && i + 1 < n) continue;
        place = 0;
        co_await bench::transfer_to(ring.consumer);
    }
}

template <class T>
bench::bare_coroutine drain(private_ring<T>& ring, std::uint64_t n, std::uint64_t& sum) {
    std::size_t place = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        const T item = std::move(ring.items[place]);
        sum += number(item);
        if (++place < ring.items.size()) continue;
        place = 0;
        co_await bench::transfer_to(ring.producer);
    }
}

template <class T>
void pass_on_one_thread(std::size_t capacity, std::uint64_t n) {
    private_ring<T> ring(capacity);
    std::uint64_t sum = 0;
    const bench::bare_coroutine producer = fill(ring, n);
    const bench::bare_coroutine consumer = drain(ring, n, sum);
    ring.producer = producer.handle();
    ring.consumer = consumer.handle();
    ring.producer.resume();
    tally sums;
    sums.add(sum);
    sums.check(n, 1);
}

struct limits {
    template <class T>
    static void add(bench::group& g, const scenario<T>& s) {
        if (!s.all_ways) return;
        if (s.workers == 1) {
            g.limit("ring without a lock, symmetric transfer",
                    [s](std::uint64_t n) { pass_on_one_thread<T>(s.capacity, n); });
        } else if (s.has_threads()) {
            g.limit("ring between two spinning threads",
                    [s](std::uint64_t n) { pass_between_threads<T, spinning_ring<T>>(s, n); });
        }
    }
};

const for_all_items<limits> joined;

}  // namespace
