// expect-error: weir: merge is given pipelines, one or more; an argument is none, or there is none
// There is something to merge.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/merge.hpp>

auto all = weir::merge() | weir::sink();

int main() {}
