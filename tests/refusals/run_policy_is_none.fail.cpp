// expect-error: weir: what measures a channel or a run, or doesn't, is a policy, and this is none
// A run is started with a policy, if with any.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>

struct fast {};

int main() {
    weir::thread_pool pool;
    auto run = (weir::source({1, 2}) | weir::sink()).start<fast>(pool);
}
