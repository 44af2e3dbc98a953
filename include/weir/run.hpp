// weir: a pipeline that was started
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_HPP
#define WEIR_RUN_HPP

#include <weir/run/epoch_range.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/priority_lanes.hpp>
#include <weir/run/profile_trial.hpp>
#include <weir/run/run.hpp>
#include <weir/run/run_control.hpp>
#include <weir/run/run_report.hpp>
#include <weir/run/stage_options.hpp>

#endif
