// weir: the pipeline and its stages
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_HPP
#define WEIR_STAGES_HPP

#include <weir/stages/aggregate.hpp>
#include <weir/stages/cache.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/feeder.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/retry.hpp>
#include <weir/stages/shuffle.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/sink_to.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/stages/traverse.hpp>

#endif
