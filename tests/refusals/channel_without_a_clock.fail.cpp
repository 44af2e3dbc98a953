// expect-error: weir: a channel(capacity, clock, name) measures in the time of an executor that outlives it
// The name of a channel comes behind the clock that its times are in.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

weir::channel<int> numbers(4, "numbers");

int main() {}
