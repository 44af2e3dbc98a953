#include <weir/when_all.hpp>

weir::task<int> one() { co_return 1; }

weir::task<int> two() {
    auto [a, b] = co_await weir::when_all(one(), one());
    co_return a + b;
}
