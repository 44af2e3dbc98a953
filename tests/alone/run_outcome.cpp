#include <weir/run_outcome.hpp>

bool may_go_on(weir::run_outcome o) { return o == weir::run_outcome::running; }
