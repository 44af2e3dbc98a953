// expect-error: weir: a source can only come first
// A merge is where pipelines begin: nothing stands before it.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/merge.hpp>

auto both = weir::source({1}) | weir::merge(weir::source({1, 2}), weir::source({3})) | weir::sink();

int main() {}
