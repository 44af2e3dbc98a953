// expect-error: weir: nothing can come after a sink or a for_each
// A for_each gives nothing on.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>

auto beyond = weir::source({1, 2, 3}) | weir::for_each([](int) {}) | weir::sink();

int main() {}
