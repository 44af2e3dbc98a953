// expect-error: weir: what is described is a pipeline, a stage, or several put together by |
// A function becomes a stage by weir::pipe.
// SPDX-License-Identifier: BSL-1.0
#include <weir/report/describe.hpp>

int twice(int n) { return 2 * n; }

auto described = weir::describe(twice);

int main() {}
