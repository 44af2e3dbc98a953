#include <weir/branch.hpp>

auto unchanged = weir::branch("unchanged");
