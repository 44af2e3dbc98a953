// The way that cppcoro passes items between coroutines: a ring, and the sequences of written and read positions.
#ifndef BENCH_COMMON_CPPCORO_HPP
#define BENCH_COMMON_CPPCORO_HPP

#include <cppcoro/sequence_barrier.hpp>
#include <cppcoro/single_producer_sequencer.hpp>
#include <cppcoro/static_thread_pool.hpp>

#include <cstddef>
#include <vector>

namespace bench {

// A ring for one producer and one consumer. Items are written and read in place; the first has number 0.
template <class T>
class cppcoro_ring {
  public:
    // \param capacity  a power of two
    cppcoro_ring(std::size_t capacity, cppcoro::static_thread_pool& pool)
        : pool_(pool), written_(read_, capacity), places_(capacity) {}

    T& operator[](std::size_t number) { return places_[number & (places_.size() - 1)]; }

    // Awaitable of the number of a place to write to, or of the numbers of at most `most` places.
    auto room() { return written_.claim_one(pool_); }
    auto room_for(std::size_t most) { return written_.claim_up_to(most, pool_); }
    void wrote(std::size_t last) { written_.publish(last); }

    // Awaitable of the number of the last available item, `next` or later.
    auto available(std::size_t next) { return written_.wait_until_published(next, pool_); }
    void took(std::size_t last) { read_.publish(last); }

  private:
    cppcoro::static_thread_pool& pool_;
    cppcoro::sequence_barrier<> read_;
    cppcoro::single_producer_sequencer<> written_;
    std::vector<T> places_;
};

}  // namespace bench

#endif
