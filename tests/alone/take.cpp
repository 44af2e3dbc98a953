#include <weir/take.hpp>

auto some = weir::take(3);
auto rest = weir::skip(3);
