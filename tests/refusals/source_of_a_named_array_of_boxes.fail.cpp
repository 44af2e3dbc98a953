// expect-error: weir: a stage copies an lvalue, and this one can't be copied; move it: std::move(it)
// An array is copied element by element.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/source.hpp>

#include <memory>

std::unique_ptr<int> boxes[3];

auto given = weir::source(boxes);

int main() {}
