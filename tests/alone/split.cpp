#include <weir/split.hpp>

#include <vector>

auto divided = weir::source({std::vector<int>{1, 2}}) |
               weir::split([](int n) { return n % 2; }, weir::branch("even"), weir::branch("odd")) |
               weir::sink();
