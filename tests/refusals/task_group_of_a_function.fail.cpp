// expect-error: weir: a task_group runs task<>, which gives nothing
// What is spawned is what a coroutine function returns, not the function.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task_group.hpp>

weir::task<> work() { co_return; }

void start(weir::task_group& group) { group.spawn(work); }

int main() {}
