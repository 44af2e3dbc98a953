// expect-error: weir: merge and zip take pipelines with a source, and without a sink or for_each
// A merged pipeline begins with a source.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/merge.hpp>

auto both = weir::merge(weir::source({1, 2}), weir::pipe([](int n) { return n; })) | weir::sink();

int main() {}
