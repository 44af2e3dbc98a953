// expect-error: or a container that can be copied; this is neither
// A container claims that it can be copied, whatever its elements are.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/epochs.hpp>

#include <memory>
#include <vector>

std::vector<std::unique_ptr<int>> boxes;

auto twice = weir::repeat(boxes, 2);

int main() {}
