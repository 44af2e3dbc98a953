// expect-error: weir: a generator<T> co_yields a T, or what becomes one by itself, and a generator<T&> what has a name and is a T; this is neither
// A generator gives what its type says.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/generator.hpp>

#include <string>

weir::generator<int> sizes() { co_yield std::string("three"); }

int main() {}
