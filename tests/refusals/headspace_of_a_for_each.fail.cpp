// expect-error: weir: headspace takes the items of a run
// The for_each is the consumer, and no item comes out.
// SPDX-License-Identifier: BSL-1.0
#include <weir/insight/headspace.hpp>
#include <weir/weir.hpp>

auto measured(weir::executor& ex) {
    return weir::headspace(weir::source({1, 2}) | weir::for_each([](int) {}), ex, [](int) {});
}

int main() {}
