// Shows the two output orders of a stage with several slots: as items are done, or as they came.
// The statistics show as `wait_turn` how long slots waited for a place for an early result.
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <iostream>
#include <ranges>

using namespace std::chrono_literals;

// Every fourth frame takes long.
weir::task<int> decode(int frame) {
    co_await weir::sleep_for(frame % 4 == 0 ? 40ms : 10ms);
    co_return frame;
}

weir::duration play(weir::output_order order) {
    // clang-format off
    auto pipeline = weir::source(std::views::iota(0, 12))
                  | weir::pipe(decode, {.name = "decode", .concurrency = 4, .output_order = order})
                  | weir::sink();
    // clang-format on
    weir::virtual_time time;
    auto run = pipeline.start(time);
    for (const int frame : run) std::cout << ' ' << frame;
    const auto waited = run.stats().stages[1].times().wait_turn;
    std::cout << "\n    finished slots waited for their turn: "
              << std::chrono::duration_cast<std::chrono::milliseconds>(waited).count() << " ms\n";
    return waited;
}

int main() {
    std::cout << "as they are done:  ";
    const bool never = play(weir::output_order::completion) == 0ms;
    std::cout << "as they came:      ";
    const bool sometimes = play(weir::output_order::input) > 0ms;
    return never && sometimes ? 0 : 1;
}
