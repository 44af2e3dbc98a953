// expect-error: weir: merge and zip take pipelines with a source, and without a sink or for_each
// A merged pipeline has no sink: that comes behind the merge.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/merge.hpp>

auto both = weir::merge(weir::source({1, 2}) | weir::sink(), weir::source({3})) | weir::sink();

int main() {}
