// expect-error: a checkpoint is of a source that draws from a sampler: #include <weir/stages/epochs.hpp>
// What a checkpoint takes is compiled by those who have a source that gives one.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

int main() {
    weir::virtual_time time;
    auto run = (weir::source({1, 2, 3}) | weir::sink()).start(time);
    static_cast<void>(run.checkpoint());
}
