// expect-error: weir: a task_group runs task<>, which gives nothing
// A group has nowhere to put results.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task_group.hpp>

weir::task<int> work() { co_return 1; }

void start(weir::task_group& group) { group.spawn(work()); }

int main() {}
