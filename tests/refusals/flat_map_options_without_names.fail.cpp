// expect-error: weir: a stage's options are given by their names
// A stage has many options, so a name is one option of several.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/flat_map.hpp>

#include <vector>

std::vector<int> up_to(int n);

auto all = weir::flat_map(up_to, "count");

int main() {}
