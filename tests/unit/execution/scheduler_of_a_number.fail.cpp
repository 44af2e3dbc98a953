// expect-error: weir: get_scheduler needs an executor that outlives what is started there
// A number is none.
// SPDX-License-Identifier: BSL-1.0
#include <weir/execution/scheduler.hpp>

void asks() { static_cast<void>(weir::execution::get_scheduler(1)); }
