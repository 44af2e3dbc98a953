// expect-error: weir: a stage of this pipeline can't be copied (a generator, or what holds an object that only moves), so it is good for one run: profile(
// A generator is good for one run.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/thread_pool.hpp>
#include <weir/report/profile.hpp>
#include <weir/task/generator.hpp>

weir::generator<int> count() { co_yield 1; }

auto measure(weir::thread_pool& pool) {
    auto numbers = weir::source(count()) | weir::sink();
    return weir::profile(numbers, pool);
}

int main() {}
