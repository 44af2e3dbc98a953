// expect-error: weir: a task<T> co_returns a T, or what becomes one by itself, and this is neither
// A task gives what its type says.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>

#include <string>

weir::task<int> size() { co_return std::string("three"); }

int main() {}
