// expect-error: weir: merge and zip take pipelines with a source, and without a sink or for_each
// What is merged gives items on.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/merge.hpp>
#include <weir/stages/sink.hpp>

auto all = weir::merge(weir::source({1}) | weir::for_each([](int) {}), weir::source({2})) | weir::sink();

int main() {}
