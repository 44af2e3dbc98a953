// weir: samplers, which decide the order of items, their weights and shards; checkpoints
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_HPP
#define WEIR_SAMPLING_HPP

#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/permutation.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/sampling/shard.hpp>
#include <weir/sampling/weighted_sampler.hpp>

#endif
