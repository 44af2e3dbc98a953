// expect-error: weir: a stage's options are given by their names
// A number is no options.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>

auto wrong = weir::source({1, 2, 3}) | weir::for_each([](int) {}, 4);

int main() {}
