// expect-error: weir: a task<T> co_returns a T, or what becomes one by itself, and this is neither
// A constant stays what it is, so that its value would have to be copied.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>

#include <memory>

weir::task<std::unique_ptr<int>> make() {
    const auto made = std::make_unique<int>(1);
    co_return made;
}

int main() {}
