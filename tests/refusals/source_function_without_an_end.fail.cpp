// expect-error: weir: a source needs a range, a generator, an async_generator, or a function
// A source's function gives optional items, as it has to say when there are no more.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/source.hpp>

auto numbers = weir::source([] { return 1; });

int main() {}
