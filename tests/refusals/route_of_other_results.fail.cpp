// expect-error: weir: the branches that are joined have to give items of one type
// All branches give items of one type.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/route.hpp>

#include <string>

auto routed = weir::source({1, 2}) |
              weir::route([](int n) { return n % 2; }, weir::branch("same"),
                          weir::branch("text", weir::pipe([](int n) { return std::to_string(n); }))) |
              weir::sink();

int main() {}
