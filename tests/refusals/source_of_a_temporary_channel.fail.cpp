// expect-error: weir: a source takes from a channel that outlives the run and that it can change
// A channel can't be kept in a description: somebody else puts into it.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto pipeline = weir::source(weir::channel<int>(4)) | weir::sink();

int main() {}
