// expect-error: weir: scheduler_executor needs a scheduler of std::execution
// A number can't be scheduled on.
// SPDX-License-Identifier: BSL-1.0
#include <weir/execution/scheduler_executor.hpp>

void runs() { const weir::execution::scheduler_executor<int> on_it(1); }
