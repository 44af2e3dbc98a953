// weir: why a pipeline is not faster, and what would help: predictions, what-if, verdict
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_HPP
#define WEIR_INSIGHT_HPP

// Of these, weir.hpp includes only verdict.hpp and its includes: a verdict is part of the printed statistics
// of a run, and of what WEIR_DIAGNOSE=1 (an environment variable) prints at the end of a run.
#include <weir/insight/diff.hpp>
#include <weir/insight/headspace.hpp>
#include <weir/insight/limits.hpp>
#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/insight/tune.hpp>
#include <weir/insight/verdict.hpp>

#endif
