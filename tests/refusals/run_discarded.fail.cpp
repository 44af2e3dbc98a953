// expect-error: destroying the run stops it: keep it, and take its items
// A run that nobody keeps is stopped at once.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

int main() {
    weir::virtual_time time;
    const auto pipeline = weir::source({1, 2, 3}) | weir::sink();
    pipeline.start(time);
}
