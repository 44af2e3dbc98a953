#include <weir/virtual_time.hpp>

weir::virtual_time simulated;
const auto begin = simulated.now();
