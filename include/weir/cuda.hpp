// weir: stages and coroutines that wait for a GPU
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_HPP
#define WEIR_CUDA_HPP

#include <weir/cuda/context.hpp>
#include <weir/cuda/device_allocator.hpp>
#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/parts.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/reactor.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/to_device.hpp>
#include <weir/cuda/to_host.hpp>

#endif
