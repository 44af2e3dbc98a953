// weir: tests of your coroutines and pipelines under thousands of schedules
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_HPP
#define WEIR_SIMULATION_HPP

// Everything in namespace weir::simulation. For tests: weir.hpp doesn't include it.
#include <weir/simulation/explore.hpp>
#include <weir/simulation/world.hpp>

#endif
