// expect-error: weir: the pipelines that are merged have to give items of one type, all with epochs or all without
// Merged pipelines have epochs, all or none.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/merge.hpp>
#include <weir/stages/epochs.hpp>

#include <vector>

auto both =
    weir::merge(weir::source({1, 2}), weir::source(weir::epochs(std::vector<int>{1, 2}, 2))) | weir::sink();

int main() {}
