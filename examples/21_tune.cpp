// Lets a tuner find the numbers of slots of a running pipeline, within a budget, and prints each of its steps.
// In the middle, downloads become slower and decoding faster; the tuner follows.
#include <weir/insight/tune.hpp>
#include <weir/weir.hpp>

#include <atomic>
#include <chrono>
#include <iostream>
#include <ranges>

using namespace std::chrono_literals;

std::atomic<bool> is_evening = false;

weir::task<int> download(int i) {
    co_await weir::sleep_for(is_evening ? 20ms : 2ms);
    co_return i;
}

weir::task<int> decode(int i) {
    co_await weir::sleep_for(is_evening ? 2ms : 20ms);
    co_return i;
}

int main() {
    weir::thread_pool pool(2);
    // clang-format off
    auto pipeline = weir::source(std::views::iota(0))
                  | weir::pipe(download, {.name = "download"})
                  | weir::pipe(decode, {.name = "decode"})
                  | weir::sink();
    // clang-format on
    auto run = pipeline.start(pool);

    weir::tuner tuner({.max_slots = 8});  // of all stages together; the source has one of them
    double slow = 0;
    for (int lap = 1; lap <= 16; ++lap) {
        is_evening = lap > 8;
        const auto end = pool.now() + 300ms;
        while (pool.now() < end) static_cast<void>(run.get());
        const weir::tuning_step& step = tuner.step(run);
        std::cout << step.sentence << '\n';
        if (lap == 1) slow = step.rate;
    }
    return tuner.log().back().rate > 2 * slow ? 0 : 1;
}
