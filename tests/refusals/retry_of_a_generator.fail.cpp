// expect-error: weir: a function that gives a generator can't be retried: what it gave before it failed has left already
// What has left can't be made again.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/retry.hpp>
#include <weir/task/generator.hpp>

weir::generator<int> count(int n) {
    for (int i = 0; i < n; ++i) co_yield i;
}

auto counts = weir::source({1, 2, 3}) | weir::pipe(weir::retry(count)) | weir::sink();

int main() {}
