// A queue as a careful programmer writes it without a library: a ring, a mutex, two condition variables.
#ifndef BENCH_COMMON_LOCKED_QUEUE_HPP
#define BENCH_COMMON_LOCKED_QUEUE_HPP

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace bench {

template <class T>
class locked_queue {
  public:
    explicit locked_queue(std::size_t capacity) : ring_(capacity) {}

    void push(T&& item) {
        {
            std::unique_lock guard(mutex_);
            not_full_.wait(guard, [this] { return size_ < ring_.size(); });
            const std::size_t last = first_ + size_++;
            ring_[last < ring_.size() ? last : last - ring_.size()] = std::move(item);
        }
        not_empty_.notify_one();
    }

    void pop(T& item) {
        {
            std::unique_lock guard(mutex_);
            not_empty_.wait(guard, [this] { return size_ != 0; });
            item = std::move(ring_[first_]);
            if (++first_ == ring_.size()) first_ = 0;
            --size_;
        }
        not_full_.notify_one();
    }

  private:
    std::mutex mutex_;
    std::condition_variable not_full_;
    std::condition_variable not_empty_;
    std::vector<T> ring_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace bench

#endif
