// expect-error: weir: what the function of a for_each returns is dropped
// A generator that is dropped has done nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/generator.hpp>

weir::generator<int> twice(int n) {
    co_yield n;
    co_yield n;
}

auto none = weir::source({1, 2, 3}) | weir::for_each(twice);

int main() {}
