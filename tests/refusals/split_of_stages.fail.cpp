// expect-error: weir: behind its chooser a split has branches, one or more, each of them a weir::branch(name, part)
// A branch has a name.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/split.hpp>

#include <vector>

auto parts = weir::source({std::vector<int>{1, 2}}) |
             weir::split([](int n) { return n % 2; }, weir::pipe([](auto i) { return i; })) | weir::sink();

int main() {}
