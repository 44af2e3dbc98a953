// expect-error: weir: headspace gives the same items to the consumer again and again
// After the first call, the box is gone.
// SPDX-License-Identifier: BSL-1.0
#include <weir/insight/headspace.hpp>
#include <weir/weir.hpp>

#include <memory>

auto measured(weir::executor& ex) {
    const auto boxed = [](int i) { return std::make_unique<int>(i); };
    return weir::headspace(weir::source({1, 2}) | weir::pipe(boxed) | weir::sink(), ex,
                           [](std::unique_ptr<int>) {});
}

int main() {}
