// expect-error: weir: the source of this run has no epochs
// Epochs come from the source.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

int main() {
    weir::virtual_time time;
    auto run = (weir::source({1, 2}) | weir::sink()).start(time);
    static_cast<void>(run.get_in_epoch());
}
