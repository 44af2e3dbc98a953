// expect-error: weir: as_sender needs what can be awaited and moved
// A number is neither an awaitable nor a function that gives one.
// SPDX-License-Identifier: BSL-1.0
#include <weir/execution/sender.hpp>

void sends() { static_cast<void>(weir::execution::as_sender(1)); }
