// expect-error: weir: a task_group runs task<>, which gives nothing. If this is a coroutine function, call it; if it is a task with a name, give it away: std::move(it)
// A task runs once, so that it is given away.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

weir::task<> index();

void index_all(weir::task_group& group) {
    weir::task<> first = index();
    group.spawn(first);
}

int main() {}
