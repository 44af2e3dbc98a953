// expect-error: weir: sync_wait needs an awaitable
// A task has one result, so that only a temporary or a moved one can be waited for.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

weir::task<int> give() { co_return 1; }

int main() {
    auto t = give();
    weir::sync_wait(t);
}
