// expect-error: weir: a stage copies an lvalue, and this one can't be copied; move it: std::move(it)
// A container claims that it can be copied, whatever its elements are.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/source.hpp>

#include <memory>
#include <vector>

std::vector<std::vector<std::unique_ptr<int>>> boxes;

auto given = weir::source(boxes);

int main() {}
