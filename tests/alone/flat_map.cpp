#include <weir/flat_map.hpp>

#include <vector>

auto copies = weir::flat_map([](int n) { return std::vector<int>(3, n); });
