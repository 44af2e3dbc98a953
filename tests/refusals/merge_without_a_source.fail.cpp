// expect-error: weir: what is merged or zipped are pipelines with a source at their front and no sink or for_each
// A merged pipeline begins with a source.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/merge.hpp>

auto both = weir::merge(weir::source({1, 2}), weir::pipe([](int n) { return n; })) | weir::sink();

int main() {}
