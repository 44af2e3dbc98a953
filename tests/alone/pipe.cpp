#include <weir/pipe.hpp>

int twice(int n) { return 2 * n; }

auto doubled = weir::pipe(twice, {.name = "twice", .concurrency = 2});
