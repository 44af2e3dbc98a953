// expect-error: weir: a function to be retried is called with the item as a constant, or with a copy of it
// The next call needs the item, too.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/retry.hpp>

#include <memory>
#include <utility>

auto boxes = weir::source({1, 2, 3}) | weir::pipe([](int n) { return std::make_unique<int>(n); }) |
             weir::pipe(weir::retry([](std::unique_ptr<int> p) { return *p; })) | weir::sink();

int main() {}
