// expect-error: weir: a pipeline is a description, and holds no items
// Items come from a run of a pipeline.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

int main() {
    auto pipeline = weir::source({1, 2, 3}) | weir::sink();
    int sum = 0;
    for (const int n : pipeline) sum += n;
    return sum;
}
