// The queue itself is unbounded: a second semaphore counts the free places.
#ifndef BENCH_COMMON_MOODYCAMEL_QUEUE_HPP
#define BENCH_COMMON_MOODYCAMEL_QUEUE_HPP

#include <concurrentqueue/blockingconcurrentqueue.h>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace bench {

template <class T>
class moodycamel_queue {
    using queue = moodycamel::BlockingConcurrentQueue<T>;

  public:
    explicit moodycamel_queue(std::size_t capacity)
        : items_(capacity), room_(static_cast<std::make_signed_t<std::size_t>>(capacity)) {}

    // Each thread has its own token, which makes the queue faster.
    class producer {
      public:
        explicit producer(moodycamel_queue& q) : to_(&q), token_(q.items_) {}
        void push(T&& item) {
            to_->room_.wait();
            to_->items_.enqueue(token_, std::move(item));
        }

      private:
        moodycamel_queue* to_;
        moodycamel::ProducerToken token_;
    };

    class consumer {
      public:
        explicit consumer(moodycamel_queue& q) : from_(&q), token_(q.items_) {}
        void pop(T& item) {
            from_->items_.wait_dequeue(token_, item);
            from_->room_.signal();
        }

      private:
        moodycamel_queue* from_;
        moodycamel::ConsumerToken token_;
    };

  private:
    queue items_;
    moodycamel::LightweightSemaphore room_;
};

}  // namespace bench

#endif
