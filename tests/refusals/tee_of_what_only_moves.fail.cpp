// expect-error: weir: tee copies each item, and these can't be copied
// A tee copies items.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/tee.hpp>

#include <memory>

auto copied = weir::source({1, 2}) | weir::pipe([](int n) { return std::make_unique<int>(n); }) |
              weir::tee(weir::pipe([](std::unique_ptr<int> p) { return p; })) | weir::sink();

int main() {}
