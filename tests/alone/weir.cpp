#include <weir/weir.hpp>

int twice(int n) { return 2 * n; }

int sum() {
    weir::thread_pool pool;
    auto doubled = weir::source({1, 2, 3}) | weir::pipe(twice) | weir::sink(3);
    int total = 0;
    for (const int n : doubled.start(pool)) total += n;
    return total;
}
