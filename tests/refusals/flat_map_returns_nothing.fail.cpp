// expect-error: weir: flat_map's function has to give a range, a generator or an async_generator
// A function without a result gives no elements.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipeline.hpp>

auto parts = weir::source({1, 2, 3}) | weir::flat_map([](int) {}) | weir::sink();

int main() {}
