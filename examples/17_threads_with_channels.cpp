// Shows channels between plain threads, between threads and coroutines, and at both ends of a pipeline.
// Threads need no executor; operations that block a thread are called `blocking_...`.
#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink_to.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <iostream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

// A coroutine on a pool: squares the numbers that threads put. While it waits it occupies no thread.
weir::task<> square(weir::channel<int>& in, weir::channel<int>& out) {
    while (auto n = co_await in.get()) {
        const bool taken = co_await out.put(*n * *n);
        if (!taken) break;  // the channel of results is closed
    }
    out.close();
}

int main() {
    weir::channel<int> numbers(8);
    weir::channel<int> squares(8);

    // Several threads may put and get at once. `close` ends the channel, after the last thread has finished.
    std::vector<std::jthread> givers;
    for (int first : {0, 50}) {
        givers.emplace_back([&numbers, first] {
            for (int n = 0; n < 50; ++n) {
                if (numbers.blocking_put(first + n) != weir::channel_status::success) return;  // closed
            }
        });
    }
    std::jthread closer([&] {
        for (std::jthread& each : givers) each.join();
        numbers.close();
    });

    weir::thread_pool pool(2);
    std::jthread taker([&] {
        long sum = 0;
        // A time-out lets the thread do other things meanwhile. It loses no item.
        while (true) {
            const auto n = squares.blocking_get(10ms);
            if (n.status() == weir::channel_status::closed) break;
            if (n) sum += *n;
        }
        std::cout << "the squares from 0 to 99 sum to " << sum << '\n';
    });
    weir::sync_wait(pool, square(numbers, squares));  // this thread waits for the coroutine
    taker.join();

    // The same with a pipeline, which measures itself. Threads put and get here, too.
    weir::channel<int> in(8);
    weir::channel<int> out(8);
    const auto pipeline =
        weir::source(in) | weir::pipe([](int n) { return n * n; }, {.concurrency = 2}) | weir::sink_to(out);
    auto run = pipeline.start(pool);
    std::jthread giver([&in] {
        for (int n = 0; n < 100; ++n) {
            if (in.blocking_put(int(n)) != weir::channel_status::success) return;  // the run has ended
        }
        in.close();
    });
    long sum = 0;
    while (const auto n = out.blocking_get()) sum += *n;
    std::cout << "the pipeline says " << sum << '\n';
    return run.wait().items == 100 && sum == 328350 ? 0 : 1;
}
