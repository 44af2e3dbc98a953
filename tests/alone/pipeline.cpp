#include <weir/pipeline.hpp>

int twice(int n) { return 2 * n; }

auto doubled = weir::source({1, 2, 3}) | weir::pipe(twice) | weir::sink(3);

int sum(weir::executor& home) {
    int total = 0;
    auto run = doubled.start(home);
    for (const int n : run) total += n;
    return total;
}
