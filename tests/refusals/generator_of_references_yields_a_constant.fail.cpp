// expect-error: weir: a generator<T> co_yields a T, or what becomes one by itself, and a generator<T&> what has a name and is a T; this is neither
// The consumer of a generator of references may change what it is given.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/generator.hpp>

weir::generator<int&> sizes() {
    const int three = 3;
    co_yield three;
}

int main() {}
