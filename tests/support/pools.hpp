// Platforms and timers for the tests of pools of threads.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_POOLS_HPP
#define WEIR_TESTS_SUPPORT_POOLS_HPP

#include "detached.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace pools {

// A thread of the pool that asks whether the pool ends gets no answer before it does. One for each `Tag`.
template <class Tag>
struct unhurried_platform : weir::detail::standard_platform {
    static inline std::atomic<bool> asked{false};
    static inline std::atomic<bool> ends{false};

    template <class T>
    struct atomic : std::atomic<T> {
        using std::atomic<T>::atomic;
        T load(std::memory_order order) const noexcept {
            if constexpr (std::is_same_v<T, bool>) {
                if (order == std::memory_order_seq_cst) wait_for_the_end();
            }
            return std::atomic<T>::load(order);
        }
        void store(T value, std::memory_order order) noexcept {
            std::atomic<T>::store(value, order);
            if constexpr (std::is_same_v<T, bool>) {
                if (value && order == std::memory_order_seq_cst) ends = true;
            }
        }
    };
    static void wait_for_the_end() noexcept {
        asked = true;
        while (!ends) std::this_thread::yield();
    }
};

// A system that can start `left` threads and no more.
struct meagre_platform : weir::detail::standard_platform {
    static inline int left = 0;
    // How often the calling thread has read the clock.
    static int& looks() {
        static thread_local int n = 0;
        return n;
    }
    static std::int64_t now() noexcept {
        ++looks();
        return standard_platform::now();
    }
    struct thread : std::thread {
        thread() noexcept = default;
        template <class F>
        explicit thread(F&& f) : std::thread(permitted(std::forward<F>(f))) {}
        template <class F>
        static F&& permitted(F&& f) {
            if (left-- == 0) {
                throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
            }
            return std::forward<F>(f);
        }
    };
};

// Adds its timer from the thread that calls it.
class timer_wait {
  public:
    timer_wait(weir::executor& ex, weir::duration d) noexcept : executor_(&ex), duration_(d) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
        timer_.emplace(executor_->now() + duration_, h);
        executor_->add(*timer_);
    }
    void await_resume() const noexcept {}

  private:
    weir::executor* executor_;
    weir::duration duration_;
    std::optional<weir::timer> timer_;
};

inline detached sleep_here(weir::executor& ex, weir::duration d, weir::detail::parker& done) {
    co_await timer_wait(ex, d);
    done.set();
}

// This thread adds timers to the pool, whose threads sleep till a later one. Returns when all have fired.
inline void wake_by_timers(weir::executor& pool) {
    using namespace std::chrono_literals;
    weir::detail::parker late;
    sleep_here(pool, 20ms, late);
    for (int i = 0; i < 200; ++i) {
        weir::detail::parker soon;
        sleep_here(pool, std::chrono::microseconds(i), soon);
        soon.wait();
    }
    late.wait();
}

}  // namespace pools

#endif
