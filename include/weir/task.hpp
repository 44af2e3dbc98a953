// weir: coroutines: tasks, generators, joins, groups, stops and sleeps
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_HPP
#define WEIR_TASK_HPP

#include <weir/task/async_generator.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/external_wait.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>
#include <weir/task/when_all.hpp>
#include <weir/task/when_any.hpp>

#endif
