// weir: senders and schedulers of std::execution, both ways
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_HPP
#define WEIR_EXECUTION_HPP

#include <weir/execution/scheduler.hpp>
#include <weir/execution/scheduler_executor.hpp>
#include <weir/execution/sender.hpp>

#endif
