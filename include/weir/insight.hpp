// weir: why a pipeline is not faster, and what would help: predictions, what-if, verdict
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_HPP
#define WEIR_INSIGHT_HPP

// Of these, weir.hpp includes only brief_verdict.hpp and its includes: tables and the environment variable
// WEIR_DIAGNOSE need them.
#include <weir/insight/brief_verdict.hpp>
#include <weir/insight/diff.hpp>
#include <weir/insight/headspace.hpp>
#include <weir/insight/limits.hpp>
#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/insight/run_difference.hpp>
#include <weir/insight/settings.hpp>
#include <weir/insight/tune.hpp>
#include <weir/insight/verdict.hpp>
#include <weir/insight/what_if.hpp>

#endif
