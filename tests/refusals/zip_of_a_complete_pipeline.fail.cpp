// expect-error: weir: merge and zip take pipelines with a source, and without a sink or for_each
// A zipped pipeline has no sink: that comes behind the zip.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/zip.hpp>

auto rows = weir::zip(weir::source({1, 2}) | weir::sink(), weir::source({3})) | weir::sink();

int main() {}
