// expect-error: weir: headspace starts a pipeline twice
// The generator is used up by the first run.
// SPDX-License-Identifier: BSL-1.0
#include <weir/insight/headspace.hpp>
#include <weir/weir.hpp>

weir::generator<int> numbers() { co_yield 1; }

auto measured(weir::executor& ex) {
    return weir::headspace(weir::source(numbers()) | weir::sink(), ex, [](int) {});
}

int main() {}
