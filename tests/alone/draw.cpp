#include <weir/draw.hpp>

static_assert(weir::draw(12, 5, 1, false).index == 5);
