// SPDX-License-Identifier: BSL-1.0
// A coroutine that goes on in another thread: what belongs to a thread has to be looked up anew.
#include <pthread.h>

#include <thread>

#include "canary.hpp"

inline thread_local int of_thread = 0;

// Suspends; the rest runs in a thread of its own, to the next suspension or the end.
struct elsewhere {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const { waiting = h; }
    void await_resume() const noexcept {}
    static inline std::coroutine_handle<> waiting;
};

// Each leg in a new thread; the threads of earlier legs still live, so no address comes back.
inline bool run_in_threads(task<bool> whole) {
    struct leg {
        static void run(std::coroutine_handle<> h, int number) {
            of_thread = number;
            h.resume();
            if (elsewhere::waiting) {
                std::thread(run, std::exchange(elsewhere::waiting, {}), number + 1).join();
            }
        }
    };
    std::thread(leg::run, std::coroutine_handle<>(whole.frame()), 1).join();
    return whole.frame().done() && whole.result();
}

[[gnu::noinline]] inline int current() {
    asm volatile("");
    return of_thread;
}

// other: read before and after
namespace thread_local_read {
task<bool> work() {
    const int before = of_thread;
    co_await elsewhere();
    const int after = of_thread;
    co_return before == 1 && after == 2;
}
bool run() { return run_in_threads(work()); }
}  // namespace thread_local_read

// other: written before, read after
namespace thread_local_written {
task<bool> work() {
    of_thread = 10;
    co_await elsewhere();
    const int after = of_thread;
    co_return after == 2;
}
bool run() { return run_in_threads(work()); }
}  // namespace thread_local_written

// other: its address is taken before and after
namespace thread_local_address {
task<bool> work() {
    int* before = &of_thread;
    co_await elsewhere();
    int* after = &of_thread;
    co_return before != after;
}
bool run() { return run_in_threads(work()); }
}  // namespace thread_local_address

// other: read in a loop
namespace thread_local_in_loop {
task<bool> work() {
    int wrong = 0;
    for (int i = 1; i < 4; ++i) {
        if (of_thread != i) ++wrong;
        co_await elsewhere();
    }
    co_return wrong == 0 && of_thread == 4;
}
bool run() { return run_in_threads(work()); }
}  // namespace thread_local_in_loop

// other: counted in a loop
namespace thread_local_counted {
task<bool> work() {
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += ++of_thread;
        co_await elsewhere();
    }
    co_return sum == 2 + 3 + 4;
}
bool run() { return run_in_threads(work()); }
}  // namespace thread_local_counted

// other: who am I, before and after
namespace self {
task<bool> work() {
    const pthread_t before = pthread_self();
    co_await elsewhere();
    const pthread_t after = pthread_self();
    co_return !pthread_equal(before, after);
}
bool run() { return run_in_threads(work()); }
}  // namespace self

// other: who am I, in a loop
namespace self_in_loop {
task<bool> work() {
    pthread_t last{};
    int same = 0;
    for (int i = 0; i < 4; ++i) {
        const pthread_t now = pthread_self();
        if (i && pthread_equal(last, now)) ++same;
        last = now;
        co_await elsewhere();
    }
    co_return same == 0;
}
bool run() { return run_in_threads(work()); }
}  // namespace self_in_loop

// library: read by a function that is not inlined
namespace outlined_read {
task<bool> work() {
    const int before = current();
    co_await elsewhere();
    const int after = current();
    co_return before == 1 && after == 2;
}
bool run() { return run_in_threads(work()); }
}  // namespace outlined_read

// library: read by a function that is not inlined, in a loop
namespace outlined_read_in_loop {
task<bool> work() {
    int wrong = 0;
    for (int i = 1; i < 4; ++i) {
        if (current() != i) ++wrong;
        co_await elsewhere();
    }
    co_return wrong == 0 && current() == 4;
}
bool run() { return run_in_threads(work()); }
}  // namespace outlined_read_in_loop
