// expect-error: weir: tune(run, budget, next_lap) calls next_lap() for each lap
// The function trains for a lap, and doesn't say whether another one follows.
// SPDX-License-Identifier: BSL-1.0
#include <weir/insight/tune.hpp>
#include <weir/weir.hpp>

int main() {
    weir::virtual_time time;
    auto run = (weir::source({1, 2}) | weir::sink()).start(time);
    weir::tune(run, {}, [] {});
}
