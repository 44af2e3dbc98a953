// expect-error: or a container that can be copied; this is neither
// Each epoch gets a copy of the container, and boxes only move.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/epochs.hpp>

#include <memory>
#include <utility>
#include <vector>

std::vector<std::unique_ptr<int>> boxes;

auto twice = weir::epochs(std::move(boxes), 2);

int main() {}
