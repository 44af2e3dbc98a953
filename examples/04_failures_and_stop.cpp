// Shows how a pipeline ends: an exception stops it, unless it is told to tolerate some; and the
// consumer may leave at any time. Nothing is lost in silence, and no coroutine outlives the run.
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>

#include <iostream>
#include <ranges>
#include <stdexcept>
#include <string>

int parse(int n) {
    if (n % 10 == 7) throw std::runtime_error("can't parse " + std::to_string(n));
    return n;
}

int main() {
    weir::thread_pool pool(2);
    // clang-format off
    auto pipeline = weir::source(std::views::iota(0, 100))
                  | weir::pipe(parse, {.name = "parse"})
                  | weir::sink(1);
    // clang-format on

    // By default the first failure ends the run. What was finished before it still arrives.
    int before = 0;
    try {
        auto run = pipeline.start(pool);
        for ([[maybe_unused]] const int n : run) ++before;
    } catch (const weir::pipeline_failure& e) {
        std::cout << before << " items, then stage " << e.stage() << " failed: " << e.what() << '\n';
    }

    // Tolerance is asked for, and whoever asks is told of each item.
    int failures = 0;
    auto tolerant = pipeline.start(pool, {.max_failures = weir::unlimited,
                                          .on_failure = [&](const weir::failure&) { ++failures; }});
    int parsed = 0;
    for ([[maybe_unused]] const int n : tolerant) ++parsed;
    std::cout << parsed << " parsed, " << failures << " failed\n";

    // Leaving the loop is enough: the run stops what is under way and joins when it is destroyed.
    int taken = 0;
    {
        auto run = pipeline.start(pool);
        for ([[maybe_unused]] const int n : run) {
            if (++taken == 5) break;
        }
    }
    std::cout << "left after " << taken << '\n';
    return before == 7 && parsed == 90 && failures == 10 ? 0 : 1;
}
