#include <weir/simulation/stepwise.hpp>

static_assert(weir::simulation::stepwise::every_operation_ends_a_turn);
