// Shows the whole of a pipeline: compose it, start it, consume it, and ask where the time went.
// Squares are computed by two slots at once and handed over in lists of four.
#include <weir/executor/thread_pool.hpp>
#include <weir/report/table.hpp>
#include <weir/stages/pipeline.hpp>

#include <iostream>
#include <ranges>
#include <vector>

int square(int x) { return x * x; }

int sum(std::vector<int> numbers) {
    int total = 0;
    for (const int n : numbers) total += n;
    return total;
}

int main() {
    // A description: a value that does nothing until it is started, and can be started many times.
    // clang-format off
    auto pipeline = weir::source(std::views::iota(1, 101))
                  | weir::pipe(square, {.name = "square", .concurrency = 2})
                  | weir::aggregate(4)
                  | weir::pipe(sum, {.name = "sum"})
                  | weir::sink(3);
    // clang-format on

    weir::thread_pool pool(2);  // outlives the run
    auto run = pipeline.start(pool);
    int total = 0;
    for (const int n : run) total += n;  // this thread consumes while the pool produces
    std::cout << "the squares from 1 to 100 sum to " << total << "\n\n" << run.stats();
    return total == 338350 ? 0 : 1;
}
