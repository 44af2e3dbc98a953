// expect-error: this is neither, or has epochs itself, as draws have
// A sampler's draws have epochs, and where to go on is known of those of the source itself.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/epochs.hpp>

#include <weir/sampling/sampler.hpp>

auto again = weir::source(weir::epochs([] { return weir::draws(weir::sampler({.size = 4}), 1); }, 2));

int main() {}
