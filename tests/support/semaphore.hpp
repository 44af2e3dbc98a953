// A counting semaphore for threads of tests. Those of the standard library, and `std::atomic::wait`, lose wake-ups in
// libstdc++ 12 for Windows.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <condition_variable>
#include <mutex>

class semaphore {
  public:
    explicit semaphore(int count) noexcept : count_(count) {}

    void acquire() {
        std::unique_lock lock(mutex_);
        released_.wait(lock, [this] { return count_ > 0; });
        --count_;
    }
    void release() {
        const std::lock_guard guard(mutex_);
        ++count_;
        released_.notify_one();
    }

  private:
    std::mutex mutex_;
    std::condition_variable released_;
    int count_;
};
