// weir: tests of your coroutines and pipelines under thousands of schedules
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_HPP
#define WEIR_SIMULATION_HPP

// The names are in namespace weir::simulation. For tests: weir.hpp doesn't include this header.
#include <weir/simulation/explore.hpp>
#include <weir/simulation/world.hpp>

#endif
