// expect-error: weir: this run ends with a for_each, to which all items go
// Nothing is left for a consumer.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>

int main() {
    weir::virtual_time time;
    auto run = (weir::source({1, 2, 3}) | weir::for_each([](int) {})).start(time);
    static_cast<void>(run.next());
}
