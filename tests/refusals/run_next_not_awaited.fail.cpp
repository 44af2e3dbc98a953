// expect-error: co_await this, or nothing is got
// An item comes only from awaiting next.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

int main() {
    weir::virtual_time time;
    auto run = (weir::source({1, 2, 3}) | weir::sink()).start(time);
    run.next();
}
