// Shows changes to a running pipeline: more slots for the slow stage, a larger queue, and a pause.
// It runs on virtual time, so that the figures are the same on every machine.
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <iostream>
#include <ranges>

using namespace std::chrono_literals;

weir::task<int> decode(int i) {
    co_await weir::sleep_for(40ms);
    co_return i;
}

int main() {
    // clang-format off
    auto pipeline = weir::source(std::views::iota(0))
                  | weir::pipe(decode, {.name = "decode"})
                  | weir::sink();
    // clang-format on
    weir::virtual_time time;
    auto run = pipeline.start(time);
    auto before = run.stats();
    double slow = 0;
    double fast = 0;

    const auto rate_of = [&](int items) {
        for (int i = 0; i < items; ++i) static_cast<void>(run.get());
        const auto now = run.stats();
        const auto lap = now - before;
        before = now;
        std::cout << lap.stages[1].rate() << " items a second with " << lap.stages[1].concurrency
                  << " slot(s)\n";
        return lap.stages[1].rate();
    };

    slow = rate_of(100);
    run.set_concurrency("decode", 4);
    run.set_capacity("decode", 8);
    rate_of(20);  // until the queues are full
    fast = rate_of(100);

    run.pause();  // items under way are finished; no slot begins with another one
    run.resume();
    std::cout << "stages:";
    for (const auto& name : run.stages()) std::cout << ' ' << name;
    std::cout << '\n';
    return fast > 3.9 * slow ? 0 : 1;
}
