// expect-error: weir: epochs needs a function that gives a range or a generator
// Each epoch has a range of its own.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/epochs.hpp>

#include <cstdint>

auto numbers = weir::source(weir::epochs([](std::uint64_t epoch) { return epoch; }));

int main() {}
