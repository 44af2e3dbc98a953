// expect-error: weir: which function is meant can't be told from its name
// The name of several functions is none of them.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>

void write(int);
void write(double);

auto wrong = weir::source({1, 2, 3}) | weir::for_each(write);

int main() {}
