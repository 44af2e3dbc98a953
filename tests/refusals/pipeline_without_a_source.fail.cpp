// expect-error: weir: only a complete pipeline can be started
// A pipeline that starts has a source at its front.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

int main() {
    weir::virtual_time time;
    auto pipeline = weir::pipe([](int n) { return n; }) | weir::sink();
    auto run = pipeline.start(time);
}
