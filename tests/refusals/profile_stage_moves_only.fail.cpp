// expect-error: weir: a profile runs copies of a stage again and again, and this one can't be copied
// A profile copies the stages.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/thread_pool.hpp>
#include <weir/report/profile.hpp>

#include <memory>

auto measure(weir::thread_pool& pool) {
    auto by = [factor = std::make_unique<int>(2)](int n) { return *factor * n; };
    return weir::profile(weir::source({1, 2}) | weir::pipe(std::move(by)) | weir::sink(), pool);
}

int main() {}
