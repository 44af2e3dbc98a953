#include <weir/source.hpp>

auto numbers = weir::source({1, 2, 3});
