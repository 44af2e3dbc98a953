// weir: reports of runs: tables, live views, traces, HTML, JSON, CSV, and watchdogs
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HPP
#define WEIR_REPORT_HPP

#include <weir/report/csv.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/explain_all_runs.hpp>
#include <weir/report/html.hpp>
#include <weir/report/json.hpp>
#include <weir/report/live_view.hpp>
#include <weir/report/log.hpp>
#include <weir/report/metrics.hpp>
#include <weir/report/printable.hpp>
#include <weir/report/profile.hpp>
#include <weir/report/rank_stats.hpp>
#include <weir/report/rank_table.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/structure.hpp>
#include <weir/report/table.hpp>
#include <weir/report/trace.hpp>
#include <weir/report/watchdog.hpp>

#endif
