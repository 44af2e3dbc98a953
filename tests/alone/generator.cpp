#include <weir/generator.hpp>

weir::generator<int> count() { co_yield 1; }

int sum() {
    int total = 0;
    for (const int n : count()) total += n;
    return total;
}
