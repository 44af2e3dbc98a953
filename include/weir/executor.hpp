// weir: executors, which run coroutines: their interface, pools, a run loop, virtual time
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_HPP
#define WEIR_EXECUTOR_HPP

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/virtual_time.hpp>

#endif
