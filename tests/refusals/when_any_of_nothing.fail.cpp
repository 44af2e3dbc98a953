// expect-error: weir: when_any of nothing would never end
// Of nothing none is the first.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/when_any.hpp>

weir::task<> waits() { co_await weir::when_any(); }

int main() {}
