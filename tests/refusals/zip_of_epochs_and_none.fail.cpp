// expect-error: weir: the pipelines that are zipped have to be all with epochs or all without
// Zipped pipelines have epochs, all or none.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/zip.hpp>
#include <weir/stages/epochs.hpp>

#include <vector>

auto rows =
    weir::zip(weir::source({1, 2}), weir::source(weir::epochs(std::vector<int>{1, 2}, 2))) | weir::sink();

int main() {}
