// expect-error: weir: this run ends when its items have been taken, and to wait takes none
// Who only waits would wait for ever as soon as the last queue is full.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

int main() {
    weir::virtual_time time;
    auto run = (weir::source({1, 2, 3}) | weir::sink()).start(time);
    run.wait();
}
