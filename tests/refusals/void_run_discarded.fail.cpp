// expect-error: destroying the run stops it: keep it, and wait() for its end
// A run that nobody keeps is stopped at once.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>

weir::virtual_time time_of;

weir::run<void> started() {
    return (weir::source({1, 2, 3}) | weir::for_each([](int) {})).start(time_of);
}

int main() { started(); }
