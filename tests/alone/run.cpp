#include <weir/run.hpp>

#include <optional>

int sum(weir::run<int>& run) {
    int total = 0;
    for (const int n : run) total += n;
    run.stop();
    return run.stats().stages.empty() ? 0 : total;
}

weir::task<int> first(weir::run<int>& run) {
    const std::optional<int> n = co_await run.next();
    co_return n.value_or(0);
}
