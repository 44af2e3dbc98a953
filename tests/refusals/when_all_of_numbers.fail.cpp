// expect-error: weir: when_all needs awaitables, or a vector of them; an argument is none
// A vector's elements are awaitables.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <utility>
#include <vector>

weir::task<> wait() {
    std::vector<int> numbers;
    co_await weir::when_all(std::move(numbers));
}

int main() {}
