// expect-error: weir::for_each(f) or weir::traverse_each(f), at the end in place of the sink, is for a function that gives nothing
// A stage's coroutine gives the item for the next stage.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/task/task.hpp>

weir::task<> forget(int) { co_return; }

auto forgotten = weir::source({1, 2, 3}) | weir::pipe(forget) | weir::sink();

int main() {}
