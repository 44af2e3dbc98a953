#include <weir/cache.hpp>

auto kept = weir::cache();
