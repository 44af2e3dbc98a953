#include <weir/aggregate.hpp>

auto batches = weir::aggregate(8);
