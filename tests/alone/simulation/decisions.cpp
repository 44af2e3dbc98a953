#include <weir/simulation/decisions.hpp>

auto how = weir::simulation::strategy::exhaustive;
