// expect-error: weir: a channel's items must be movable without throwing
// Items move without throwing, so that none is lost between two places.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

struct throws {
    explicit throws(int) {}
    throws(const throws&) {}
};

int main() {
    weir::virtual_time time;
    auto run = (weir::source({1}) | weir::pipe([](int n) { return throws(n); }) | weir::sink()).start(time);
}
