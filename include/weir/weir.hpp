// weir: all that moves items, and the table that shows where their time went
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_WEIR_HPP
#define WEIR_WEIR_HPP

#include <weir/channel.hpp>
#include <weir/executor.hpp>
#include <weir/graph.hpp>
#include <weir/measure.hpp>
#include <weir/report/table.hpp>
#include <weir/run.hpp>
#include <weir/sampling.hpp>
#include <weir/stages.hpp>
#include <weir/task.hpp>
#include <weir/version.hpp>

#endif
