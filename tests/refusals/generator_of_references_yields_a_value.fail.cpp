// expect-error: weir: a generator<T> co_yields a T, or what becomes one by itself, and a generator<T&> what has a name and is a T; this is neither
// A reference is to something that is there while the consumer looks at it.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/generator.hpp>

weir::generator<int&> sizes() { co_yield 3; }

int main() {}
