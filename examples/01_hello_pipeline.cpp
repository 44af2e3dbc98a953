// Shows a whole pipeline: compose it, start it, consume its results, and print where the time went.
// Two slots compute squares at the same time; the next stages collect and add four squares each.
#include <weir/executor/thread_pool.hpp>
#include <weir/report/table.hpp>
#include <weir/stages/pipeline.hpp>

#include <chrono>
#include <iostream>
#include <ranges>
#include <thread>
#include <vector>

int square(int x) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // stands for real work
    return x * x;
}

int sum(std::vector<int> numbers) {
    int total = 0;
    for (const int n : numbers) total += n;
    return total;
}

int main() {
    // The description of a pipeline: a value. It can be started any number of times.
    // clang-format off
    auto pipeline = weir::source(std::views::iota(1, 101))
                  | weir::pipe(square, {.name = "square", .concurrency = 2})
                  | weir::aggregate(4)
                  | weir::pipe(sum, {.name = "sum"})
                  | weir::sink(3);
    // clang-format on

    weir::thread_pool pool(3);  // must outlive the run
    auto run = pipeline.start(pool);
    int total = 0;
    for (const int n : run) total += n;  // this thread consumes results while the pool produces them
    std::cout << "the squares from 1 to 100 sum to " << total << "\n\n" << run.stats();
    return total == 338350 ? 0 : 1;
}
