// expect-error: weir: a pipeline to be profiled has a source at its front, for the items
// The items of a profile come from a source.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/thread_pool.hpp>
#include <weir/report/profile.hpp>

int twice(int n) { return 2 * n; }

auto measure(weir::thread_pool& pool) { return weir::profile(weir::pipe(twice) | weir::pipe(twice), pool); }

int main() {}
