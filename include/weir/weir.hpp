// weir floor 14: all of the library that needs only the standard library
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_WEIR_HPP
#define WEIR_WEIR_HPP

#include <weir/aggregate.hpp>
#include <weir/async_generator.hpp>
#include <weir/awaitable.hpp>
#include <weir/blocking_pool.hpp>
#include <weir/channel.hpp>
#include <weir/channel_core.hpp>
#include <weir/channel_operations.hpp>
#include <weir/clock.hpp>
#include <weir/deadlock.hpp>
#include <weir/disaggregate.hpp>
#include <weir/executor.hpp>
#include <weir/failure.hpp>
#include <weir/generator.hpp>
#include <weir/get_result.hpp>
#include <weir/histogram.hpp>
#include <weir/locked_timers.hpp>
#include <weir/pipe.hpp>
#include <weir/pipeline.hpp>
#include <weir/policy.hpp>
#include <weir/report/log.hpp>
#include <weir/report/table.hpp>
#include <weir/report/units.hpp>
#include <weir/root.hpp>
#include <weir/run.hpp>
#include <weir/run_context.hpp>
#include <weir/run_core.hpp>
#include <weir/run_loop.hpp>
#include <weir/running_stage.hpp>
#include <weir/sink.hpp>
#include <weir/sleep.hpp>
#include <weir/source.hpp>
#include <weir/stage.hpp>
#include <weir/stage_list.hpp>
#include <weir/stage_options.hpp>
#include <weir/stats.hpp>
#include <weir/stop_token.hpp>
#include <weir/sync_wait.hpp>
#include <weir/task.hpp>
#include <weir/task_group.hpp>
#include <weir/thread_pool.hpp>
#include <weir/timer.hpp>
#include <weir/version.hpp>
#include <weir/virtual_time.hpp>
#include <weir/when_all.hpp>

#endif
