#include <weir/simulation/identities.hpp>

void check(const weir::pipeline_stats& stats) { weir::simulation::check_identities(stats); }
