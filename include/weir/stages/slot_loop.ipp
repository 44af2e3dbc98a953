// weir stages, internal: bodies of the functions of stages/slot_loop.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SLOT_LOOP_IPP
#define WEIR_STAGES_SLOT_LOOP_IPP

#include <weir/stages/slot_loop.hpp>

#include <weir/platform/config.hpp>

namespace weir::detail {

WEIR_INLINE detached_task<void> run_machine(owned<slot_machine> given) {
    // A local variable: a parameter would be destroyed after the promise, whose environment the machine uses.
    const owned<slot_machine> machine = std::move(given);
    machine->begin(*co_await my_env());
    machine_awaiter run(*machine);
    while (co_await run) {
    }
}

}  // namespace weir::detail

#endif
