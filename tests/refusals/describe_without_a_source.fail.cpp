// expect-error: weir: what a pipeline without a source is made of depends on the items
// A part without a source is described for the items that it is given.
// SPDX-License-Identifier: BSL-1.0
#include <weir/report/describe.hpp>

int main() {
    auto part = weir::pipe([](auto n) { return n; }) | weir::sink();
    return static_cast<int>(weir::describe(part).stages.size());
}
