// expect-error: weir: which function is meant can't be told from its name
// The name of a template has no type, whatever items may come.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

template <class T>
T twice(T n);

auto numbers = weir::source({1, 2}) | weir::pipe(twice);

int main() {}
