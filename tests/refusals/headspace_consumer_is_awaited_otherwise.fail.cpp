// expect-error: weir: a consumer of headspace is a function, or a coroutine that returns
// Nobody would await the sleep.
// SPDX-License-Identifier: BSL-1.0
#include <weir/insight/headspace.hpp>
#include <weir/weir.hpp>

auto measured(weir::executor& ex) {
    return weir::headspace(weir::source({1, 2}) | weir::sink(), ex,
                           [](int ms) { return weir::sleep_for(weir::duration(ms)); });
}

int main() {}
