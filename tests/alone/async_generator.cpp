#include <weir/async_generator.hpp>

weir::async_generator<int> count() { co_yield 1; }

weir::async_generator<int> copy() {
    auto from = count();
    while (auto n = co_await from.next()) co_yield *n;
}
