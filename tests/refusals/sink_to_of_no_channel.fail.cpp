// expect-error: weir: sink_to puts into a channel that outlives the run
// A vector is no channel.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink_to.hpp>

#include <vector>

std::vector<int> all;

auto pipeline = weir::source({1, 2, 3}) | weir::sink_to(all);

int main() {}
