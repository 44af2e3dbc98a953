// expect-error: weir: what is merged or zipped are pipelines with a source at their front and no sink or for_each at their end
// What is merged gives items on.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/merge.hpp>
#include <weir/stages/sink.hpp>

auto all = weir::merge(weir::source({1}) | weir::for_each([](int) {}), weir::source({2})) | weir::sink();

int main() {}
