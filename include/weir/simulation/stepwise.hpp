// weir simulation: the policy of channels and runs whose every operation is a step of its own
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_STEPWISE_HPP
#define WEIR_SIMULATION_STEPWISE_HPP

#include <weir/measure/policy.hpp>

namespace weir::simulation {

/// As `summed`; and after every `put` and `get`, also one that doesn't wait, another coroutine may run:
/// `pipeline.start<weir::simulation::stepwise>(world)`, `channel<T, stepwise>`. So a simulation reaches the
/// schedules of several threads, as far as they differ in the order of operations.
struct stepwise : summed {
    static constexpr bool every_operation_ends_a_turn = true;
};

}  // namespace weir::simulation

#endif
