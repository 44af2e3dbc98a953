// expect-error: weir: an async_generator<T> co_yields a T, or what becomes one by itself, and this is neither
// An async_generator gives what its type says.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/async_generator.hpp>

#include <string>

weir::async_generator<int> sizes() { co_yield std::string("three"); }

int main() {}
