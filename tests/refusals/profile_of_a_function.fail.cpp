// expect-error: weir: what is profiled is a pipeline
// A function alone has no items.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/thread_pool.hpp>
#include <weir/report/profile.hpp>

int twice(int n) { return 2 * n; }

auto measure(weir::thread_pool& pool) { return weir::profile(twice, pool); }

int main() {}
