// expect-error: weir: the source of this run has no epochs
// Epochs come from the source.
// SPDX-License-Identifier: BSL-1.0
#include <weir/run/run.hpp>
#include <weir/task/task.hpp>

weir::task<int> first(weir::run<int>& numbers) {
    const auto n = co_await numbers.next_in_epoch();
    co_return n.value_or(0);
}

int main() {}
