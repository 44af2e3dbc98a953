// expect-error: weir: a pipeline is started on an executor that outlives the run
// A pool without a name would end before the run.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>

#include <vector>

void starts(const std::vector<int>& items) {
    auto run = (weir::source(items) | weir::sink()).start(weir::thread_pool(2));
}
