// expect-error: connect and start this, or nothing of it runs
// A sender is lazy.
// SPDX-License-Identifier: BSL-1.0
#include <weir/execution/sender.hpp>

#include <coroutine>

void forgets() { weir::execution::as_sender(std::suspend_never()); }
