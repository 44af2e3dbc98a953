// expect-error: weir: a run gives objects, which move out of it
// Items move from stage to stage.
// SPDX-License-Identifier: BSL-1.0
#include <weir/run/run.hpp>

int count(weir::run<int&>& numbers) { return numbers.get().value_or(0); }

int main() {}
