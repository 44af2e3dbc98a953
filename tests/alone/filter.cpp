#include <weir/filter.hpp>

auto even = weir::filter([](const int& n) { return n % 2 == 0; });
