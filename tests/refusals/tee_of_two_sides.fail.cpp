// expect-error: weir: a stage's options are given by their names
// A tee has one side; what stands behind it are its options.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/tee.hpp>

int twice(int n);

auto both = weir::tee(weir::pipe(twice), weir::pipe(twice));

int main() {}
