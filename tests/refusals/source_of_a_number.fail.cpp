// expect-error: weir: a source needs a range, a generator, an async_generator, or a function
// A source is made of something that gives items.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/source.hpp>

auto numbers = weir::source(3);

int main() {}
