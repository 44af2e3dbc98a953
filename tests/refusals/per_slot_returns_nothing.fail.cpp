// expect-error: weir: the function given to per_slot returns the stage's function, and this one returns nothing
// What a slot calls has to come from somewhere.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipe_function.hpp>

void prepare();

auto decoders = weir::per_slot(prepare);

int main() {}
