// expect-error: weir: this has not been awaited, so it is neither true nor false
// Whether an item came is known when the operation has been awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

int main() {
    weir::virtual_time time;
    auto run = (weir::source({1, 2, 3}) | weir::sink()).start(time);
    while (const auto n = run.next()) return 1;
}
