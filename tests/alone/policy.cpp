#include <weir/policy.hpp>

static_assert(weir::measured::histograms && !weir::summed::histograms && !weir::unmeasured::statistics);
