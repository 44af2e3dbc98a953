// expect-error: weir: a task<T&> co_returns something that outlives it, and this would be gone at once
// A string would be made of the text, and be gone.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>

#include <string>

weir::task<const std::string&> name() { co_return "three"; }

int main() {}
