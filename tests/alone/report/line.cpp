#include <weir/report/line.hpp>

#include <iostream>

void show(const weir::stage_stats& stage, const weir::channel_stats& queue) {
    std::cout << stage << '\n' << queue << '\n' << stage.task_times << '\n' << stage.times() << '\n';
}
