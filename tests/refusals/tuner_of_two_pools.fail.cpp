// expect-error: weir: a tuner changes the workers of one pool at most
// The budget of threads is that of one pool.
// SPDX-License-Identifier: BSL-1.0
#include <weir/insight/tune.hpp>
#include <weir/weir.hpp>

void tune(weir::run<int>& run, weir::thread_pool& one, weir::thread_pool& other) {
    weir::tuner().step(run, one, other);
}

int main() {}
