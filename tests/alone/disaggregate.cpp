#include <weir/disaggregate.hpp>

auto items = weir::disaggregate();
