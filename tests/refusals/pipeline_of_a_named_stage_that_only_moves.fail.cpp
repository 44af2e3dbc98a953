// expect-error: weir: what has a name is copied into a pipeline, and a stage of this can't be copied
// A generator has one consumer, so that a source of one is given away.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/task/generator.hpp>

weir::generator<int> count();

auto numbers = weir::source(count());
auto all = numbers | weir::sink();

int main() {}
