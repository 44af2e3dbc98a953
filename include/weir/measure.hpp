// weir: clocks, histograms and statistics
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_HPP
#define WEIR_MEASURE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/measure/unit_text.hpp>

#endif
