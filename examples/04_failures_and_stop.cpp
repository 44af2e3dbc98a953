// Shows how a run ends: by an exception, or because the consumer leaves the loop. Failures can be
// tolerated and reported. No item is lost without a report, and no coroutine outlives the run.
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

    // By default the first failure ends the run. Items that were finished before still arrive.
    int before = 0;
    try {
        auto run = pipeline.start(pool);
        for ([[maybe_unused]] const int n : run) ++before;
    } catch (const weir::pipeline_failure& e) {
        std::cout << before << " items, then stage " << e.stage() << " failed: " << e.what() << '\n';
    }

    // With `max_failures` failed items are skipped; `on_failure` is called for each.
    int failures = 0;
    auto tolerant = pipeline.start(pool, {.max_failures = weir::unlimited,
                                          .on_failure = [&](const weir::failure&) { ++failures; }});
    int parsed = 0;
    for ([[maybe_unused]] const int n : tolerant) ++parsed;
    std::cout << parsed << " parsed, " << failures << " failed\n";

    // It is enough to leave the loop: the destructor of the run stops and joins everything.
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
