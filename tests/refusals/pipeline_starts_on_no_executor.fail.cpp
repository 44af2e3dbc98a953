// expect-error: weir: a pipeline is started on an executor that outlives the run
// A run is on an executor; how many threads it has is said where that is made.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

#include <vector>

void starts(const std::vector<int>& items) { auto run = (weir::source(items) | weir::sink()).start(5); }
