// Shows virtual time: an executor whose clock jumps over every wait.
// Half an hour of slow downloads takes a millisecond, and its statistics are exact.
#include <weir/executor/virtual_time.hpp>
#include <weir/report/table.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <iostream>
#include <ranges>

using namespace std::chrono_literals;

weir::task<int> download(int url) {
    co_await weir::sleep_for(5s);  // by the clock of the executor that runs the pipeline
    co_return url;
}

int main() {
    // clang-format off
    auto pipeline = weir::source(std::views::iota(0, 360))
                  | weir::pipe(download, {.name = "download"})
                  | weir::sink(1);
    // clang-format on

    weir::virtual_time time;
    auto run = pipeline.start(time);
    int downloads = 0;
    while (run.get()) ++downloads;  // on virtual time, the waiting thread runs the pipeline

    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time.now().time_since_epoch());
    std::cout << downloads << " downloads took " << minutes.count() << " minutes\n\n" << run.stats();
    return minutes == 30min ? 0 : 1;
}
