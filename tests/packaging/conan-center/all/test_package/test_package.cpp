#include <weir/weir.hpp>

#include <iostream>
#include <vector>

int main() {
    auto pipeline =
        weir::source(std::vector{1, 2, 3}) | weir::pipe([](int x) { return x * x; }) | weir::sink(3);
    weir::thread_pool pool(2);
    auto run = pipeline.start(pool);
    int total = 0;
    for (const int n : run) total += n;
    std::cout << run.stats();
    return total == 14 ? 0 : 1;
}
