#include <weir/insight/profile.hpp>

auto profiled(weir::executor& home) { return weir::profile(weir::source({1, 2}) | weir::sink(), home); }
