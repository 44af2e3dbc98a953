// expect-error: weir: a stage of this pipeline can't be copied (a generator, or what holds an object that only moves), so it is good for one run: profile(
// What has a name is copied.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/thread_pool.hpp>
#include <weir/report/profile.hpp>

#include <memory>

auto measure(weir::thread_pool& pool) {
    auto by = [factor = std::make_unique<int>(2)](int n) { return *factor * n; };
    auto pipeline = weir::source({1, 2}) | weir::pipe(std::move(by)) | weir::sink();
    return weir::profile(pipeline, pool);
}

int main() {}
