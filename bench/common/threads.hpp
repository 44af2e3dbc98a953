// Plain threads, for peers without coroutines.
#ifndef BENCH_COMMON_THREADS_HPP
#define BENCH_COMMON_THREADS_HPP

#include <cstddef>
#include <thread>
#include <vector>

namespace bench {

// Runs f(0), ..., f(count - 1), each on a thread of its own, and waits for them.
template <class F>
void on_threads(std::size_t count, const F& f) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
}

// Waits for another thread without sleeping, but not for longer than a time slice of the scheduler.
template <class Condition>
void spin_until(const Condition& condition) {
    while (true) {
        for (int i = 0; i < 1000; ++i) {
            if (condition()) return;
        }
        std::this_thread::yield();
    }
}

}  // namespace bench

#endif
