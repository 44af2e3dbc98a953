// expect-error: weir: a sender gives values, and awaiting this gives a reference
// What a task refers to is not the sender's to give.
// SPDX-License-Identifier: BSL-1.0
#include <weir/execution/sender.hpp>

#include <weir/task/task.hpp>

weir::task<int&> gives(int& n) { co_return n; }
void sends(int& n) { static_cast<void>(weir::execution::as_sender(gives(n))); }
