// expect-error: weir: a tuner changes a run
// The pipeline is a description; its run has slots and queues.
// SPDX-License-Identifier: BSL-1.0
#include <weir/insight/tune.hpp>
#include <weir/weir.hpp>

void tune() {
    auto pipeline = weir::source({1, 2}) | weir::sink();
    weir::tuner().step(pipeline);
}

int main() {}
