// expect-error: weir: sync_wait needs an awaitable: a task, or anything else that co_await takes
// A number can't be waited for.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/sync_wait.hpp>

int main() { weir::sync_wait(1); }
