// expect-error: weir: a stage copies an lvalue, and this one can't be copied; move it: std::move(it)
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/epochs.hpp>

#include <memory>
#include <vector>

auto make = [box = std::make_unique<int>(3)] { return std::vector<int>(3, *box); };

auto twice = weir::epochs(make, 2);

int main() {}
