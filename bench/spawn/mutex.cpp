// Plain threads, and a queue of functions under a mutex.
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "scenario.hpp"

namespace spawn {
namespace {

class function_pool {
  public:
    explicit function_pool(unsigned workers) {
        for (unsigned i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
    }
    ~function_pool() {
        {
            const std::lock_guard guard(mutex_);
            over_ = true;
        }
        changed_.notify_all();
        for (std::thread& t : threads_) t.join();
    }
    void post(std::function<void()> f) {
        {
            const std::lock_guard guard(mutex_);
            queue_.push(std::move(f));
        }
        changed_.notify_one();
    }

    bench::tally tally;

  private:
    void work() {
        while (true) {
            std::unique_lock guard(mutex_);
            changed_.wait(guard, [this] { return over_ || !queue_.empty(); });
            if (queue_.empty()) return;
            const std::function<void()> f = std::move(queue_.front());
            queue_.pop();
            guard.unlock();
            f();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::queue<std::function<void()>> queue_;
    bool over_ = false;
    std::vector<std::thread> threads_;
};

void post_all(function_pool& pool, std::latch& left, std::uint64_t tasks) {
    for (std::uint64_t i = 0; i < tasks; ++i) {
        pool.post([&pool, &left] {
            pool.tally.count();
            left.count_down();
        });
    }
}

const bench::contestants<scenario> mutex([](bench::group& group, const scenario& s) {
    if (s.what != shape::outside && s.what != shape::inside) return;
    const auto pool = std::make_shared<function_pool>(s.workers);
    group.peer("mutex, queue of std::function", repeat(s, [pool, s] {
                   std::latch left(static_cast<std::ptrdiff_t>(s.size));
                   if (s.what == shape::outside) {
                       post_all(*pool, left, s.size);
                   } else {
                       pool->post([&] { post_all(*pool, left, s.size); });
                   }
                   left.wait();
                   return pool->tally.take();
               }));
});

}  // namespace
}  // namespace spawn
