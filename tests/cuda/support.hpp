// What the tests of weir/cuda share: a stand-in for the runtime that is fresh for each, and looked over at its end.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_CUDA_SUPPORT_HPP
#define WEIR_TESTS_CUDA_SUPPORT_HPP

#include "cuda/stand_in/control.hpp"
#include "support/catch.hpp"

#include <weir/cuda/context.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cuda_tests {

using sentences = std::vector<std::string>;

// At the end nothing is left, and nothing was done wrong.
class fresh_runtime {
  public:
    fresh_runtime() { stand_in::reset(); }
    fresh_runtime(const fresh_runtime&) = delete;
    fresh_runtime& operator=(const fresh_runtime&) = delete;
    ~fresh_runtime() {
        stand_in::wait_until_idle();
        CHECK(stand_in::misuses() == sentences{});
        CHECK(stand_in::leaks(stand_in::after_a_failed_free::left_out) == sentences{});
        stand_in::reset();
    }
};

// Each test that asks for it runs once for each way in which a context hears of the end of work.
inline weir::cuda::context_options either_way() {
    using weir::cuda::completion_by;
    return {.how = GENERATE(completion_by::polling, completion_by::host_function)};
}

// Until something on another thread has happened; a test that waits here for ever is stopped by its time-out.
template <class Condition>
void wait_for(Condition&& happened) {
    while (!happened()) std::this_thread::yield();
}

// What came of one coroutine's waiting.
struct outcome {
    std::atomic<int> resumed{0};
    std::atomic<int> code{-1};
    std::string call;
    std::string stage;
};

// Awaits what a function gives, of which the result is nothing, and notes how that ended.
template <class Begin>
weir::task<> note(Begin begin, outcome& to) {
    try {
        co_await begin();
        to.code = cudaSuccess;
    } catch (const weir::cuda::error& e) {
        to.code = e.status();
        to.call = e.call();
        to.stage = e.stage();
    }
    ++to.resumed;
}

// A stream that is captured into a graph by this thread as long as this exists. Whether something was put into it,
// or spoilt it, is looked at.
class captured_meanwhile {
  public:
    explicit captured_meanwhile(cudaStream_t s, cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed)
        : stream_(s) {
        REQUIRE(cudaStreamBeginCapture(s, mode) == cudaSuccess);
    }
    captured_meanwhile(const captured_meanwhile&) = delete;
    captured_meanwhile& operator=(const captured_meanwhile&) = delete;
    ~captured_meanwhile() {
        cudaGraph_t graph = nullptr;
        const bool ended = cudaStreamEndCapture(stream_, &graph) == cudaSuccess;
        CHECK(ended);
        if (!ended) return;
        CHECK(stand_in::work_in(graph) == 0);
        CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    }

  private:
    cudaStream_t stream_;
};

// Memory of the device, for one test.
class on_device {
  public:
    explicit on_device(std::size_t bytes, int device = 0) {
        int before = 0;
        REQUIRE(cudaGetDevice(&before) == cudaSuccess);
        REQUIRE(cudaSetDevice(device) == cudaSuccess);
        REQUIRE(cudaMalloc(&memory_, bytes) == cudaSuccess);
        REQUIRE(cudaSetDevice(before) == cudaSuccess);
    }
    on_device(const on_device&) = delete;
    on_device& operator=(const on_device&) = delete;
    ~on_device() { static_cast<void>(cudaFree(memory_)); }
    void* get() const { return memory_; }
    std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(memory_) + offset; }

  private:
    void* memory_ = nullptr;
};

// An executor that is gone before what was used on it: whoever calls it then is counted, and its memory stays
// there, so that this is no luck. One thread; timers fire at once.
class mortal_executor final : public weir::executor {
  public:
    mortal_executor() : thread_([this] { run(); }) {}
    ~mortal_executor() { die(); }

    // Runs what is posted, and is gone.
    void die() {
        if (!thread_.joinable()) return;
        {
            const std::scoped_lock held(lock_);
            dying_ = true;
        }
        changed_.notify_one();
        thread_.join();
        is_dead_ = true;
    }
    int calls_after_its_death() const { return late_; }

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override {
        is_alive();
        const std::scoped_lock held(lock_);
        queue_.push_back(h);
        changed_.notify_one();
    }
    void add(weir::timer& t) noexcept override { post(t.waiter()); }
    void cancel(weir::timer&) noexcept override { is_alive(); }
    bool drive(flag&, weir::time_point) override { return false; }
    weir::time_point now() const noexcept override {
        is_alive();
        return executor::now();
    }

  private:
    void is_alive() const noexcept { late_ += is_dead_ ? 1 : 0; }
    void run() {
        std::unique_lock held(lock_);
        for (;;) {
            changed_.wait(held, [this] { return dying_ || !queue_.empty(); });
            if (queue_.empty()) return;
            const auto next = queue_.front();
            queue_.pop_front();
            held.unlock();
            resume(next);
            held.lock();
        }
    }

    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<std::coroutine_handle<>> queue_;
    bool dying_ = false;
    std::atomic<bool> is_dead_{false};
    mutable std::atomic<int> late_{0};
    std::thread thread_;
};

template <class T>
std::vector<T> counting_up(std::size_t n, T first = T(1)) {
    std::vector<T> all(n);
    for (T& each : all) each = first++;
    return all;
}

}  // namespace cuda_tests

#endif
