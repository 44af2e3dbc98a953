// flat_memory [ITEMS]: a hundred million items through a pipeline, in one run; prints the peak of
// resident memory after a hundredth, a tenth and all of them, and fails if it has grown in between.
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/task.hpp>

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <ranges>
#include <string>
#include <vector>

namespace {

using number = std::uint64_t;

// In KiB.
long peak_memory() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
}

weir::task<number> plus_one(number n) { co_return n + 1; }

}  // namespace

int main(int argc, char** argv) try {
    const number items = argc > 1 ? std::stoull(argv[1]) : 100'000'000;
    constexpr std::size_t batch = 10;
    weir::thread_pool pool;
    // Frames, batches and waits are made and freed all the time.
    auto run = (weir::source(std::views::iota(number{0}, items)) |
                weir::pipe(plus_one, {.concurrency = 2, .capacity = 16}) |
                weir::aggregate(batch, {.capacity = 16}) | weir::sink(16))
                   .start(pool);
    const auto start = std::chrono::steady_clock::now();
    std::vector<long> peaks;
    number taken = 0;
    number sum = 0;
    number mark = items / 100;
    for (const std::vector<number>& all : run) {
        for (const number n : all) sum += n;
        taken += all.size();
        if (taken >= mark) {
            peaks.push_back(peak_memory());
            const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
            std::cout << taken << " items: peak " << peaks.back() << " KiB, " << passed.count() << " s"
                      << std::endl;
            mark = mark * 10 > items ? items : mark * 10;
            if (taken == items) break;
        }
    }
    const bool right = taken == items && sum == items / 2 * (items + 1) + items % 2 * ((items + 1) / 2);
    const long grown = peaks.empty() ? 0 : peaks.back() - peaks.front();
    std::cout << (right ? "sum right" : "sum WRONG") << ", grown by " << grown << " KiB\n";
    return right && grown <= 1024 ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
}
