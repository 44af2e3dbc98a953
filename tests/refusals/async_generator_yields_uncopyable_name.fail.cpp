// expect-error: weir: co_yield copies what has a name, and this type can't be copied
// What can't be copied is moved out.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/async_generator.hpp>

#include <memory>

weir::async_generator<std::unique_ptr<int>> give() {
    auto one = std::make_unique<int>(1);
    co_yield one;
}

int main() {}
