// expect-error: weir: a pipeline is started on an executor that outlives the run
// A run needs somebody who runs it.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto run = (weir::source({1, 2, 3}) | weir::sink()).start();

int main() {}
