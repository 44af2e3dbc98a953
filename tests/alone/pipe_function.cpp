#include <weir/pipe_function.hpp>

auto counter = weir::per_slot([] { return [n = 0](int m) mutable { return n += m; }; });
