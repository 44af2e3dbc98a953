#include <weir/shuffle.hpp>

auto mixed = weir::shuffle(100, 1);
