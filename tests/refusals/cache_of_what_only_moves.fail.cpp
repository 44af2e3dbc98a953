// expect-error: weir: a cache gives each item once an epoch, so its items have to be copyable
// What is given again and again is copied.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/cache.hpp>
#include <weir/stages/pipeline.hpp>

#include <memory>

auto boxes = weir::source({1, 2, 3}) | weir::pipe([](int n) { return std::make_unique<int>(n); }) |
             weir::cache(2) | weir::sink();

int main() {}
