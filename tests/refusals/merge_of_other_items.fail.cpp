// expect-error: weir: the pipelines that are merged have to give items of one type
// Merged pipelines give items of one type.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/merge.hpp>

auto both = weir::merge(weir::source({1, 2}), weir::source({1.5, 2.5})) | weir::sink();

int main() {}
