// expect-error: weir: a stage_list is given one stage at a time; put a function into weir::pipe(...)
// A function becomes a stage by weir::pipe.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/stage_list.hpp>

int twice(int n) { return 2 * n; }

void fill(weir::stage_list<int>& stages) { stages.add(twice); }

int main() {}
