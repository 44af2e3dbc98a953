// expect-error: weir: what the stage before a sink_to gives has to be an item of its channel
// A text is no number.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink_to.hpp>

weir::channel<int> numbers(3);

auto pipeline = weir::source({"one", "two"}) | weir::sink_to(numbers);

int main() {}
