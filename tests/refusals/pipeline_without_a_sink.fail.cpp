// expect-error: weir: only a complete pipeline can be started
// A pipeline that starts has a sink at its end.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

int main() {
    weir::virtual_time time;
    auto pipeline = weir::source({1, 2, 3}) | weir::pipe([](int n) { return n; });
    auto run = pipeline.start(time);
}
