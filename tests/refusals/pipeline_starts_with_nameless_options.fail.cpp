// expect-error: weir: the options of a run are given by their names
// A run has many options, so what stops it is one option of several.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/stop_token.hpp>

void starts(weir::virtual_time& time, weir::stop_token stop) {
    auto run = (weir::source({1, 2, 3}) | weir::sink()).start(time, stop);
}

int main() {}
