#include <weir/retry.hpp>

int twice(int n) { return 2 * n; }

auto patient = weir::retry(twice, {});
