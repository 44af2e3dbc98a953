// Statistics of runs on virtual time whose verdict is known, for tests of what reports say.
#ifndef WEIR_TESTS_SUPPORT_EXPLAINED_RUNS_HPP
#define WEIR_TESTS_SUPPORT_EXPLAINED_RUNS_HPP

#include <weir/weir.hpp>

#include <ranges>
#include <string>
#include <utility>

namespace explained_runs {

inline weir::task<int> sleep_and_give(weir::duration time, int n) {
    co_await weir::sleep_for(time);
    co_return n;
}

inline auto sleeping(std::string name, weir::duration time, std::size_t concurrency = 1) {
    return weir::pipe([time](int n) { return sleep_and_give(time, n); },
                      {.name = std::move(name), .concurrency = concurrency});
}

// The stage, called `name`, takes 10 ms for each item, and the stage before it 2 ms.
inline weir::pipeline_stats limited_by(const std::string& name = "slow", int items = 200) {
    weir::virtual_time clock;
    auto run = (weir::source(std::views::iota(0, items)) | sleeping("fast", weir::duration(2'000'000)) |
                sleeping(name, weir::duration(10'000'000), 2) | weir::sink())
                   .start(clock);
    static_cast<void>(run.drain());
    return run.stats();
}

// Both stages take 10 ms for each item.
inline weir::pipeline_stats balanced() {
    weir::virtual_time clock;
    auto run = (weir::source(std::views::iota(0, 2'000)) | sleeping("a", weir::duration(10'000'000)) |
                sleeping("b", weir::duration(10'000'000)) | weir::sink())
                   .start(clock);
    static_cast<void>(run.drain());
    return run.stats();
}

inline const std::string sentence =
    "stage 'slow' is the bottleneck: it awaits 100 % of the time; slow: 4 slots instead of 2 would bring 100 "
    "% "
    "more (sure: 100 %)";

}  // namespace explained_runs

#endif
