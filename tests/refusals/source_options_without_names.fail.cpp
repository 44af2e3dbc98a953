// expect-error: weir: a stage's options are given by their names
// A source has many options, so its queue's capacity is one of several.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/source.hpp>

#include <vector>

auto numbers = weir::source(std::vector{1, 2, 3}, 8);

int main() {}
