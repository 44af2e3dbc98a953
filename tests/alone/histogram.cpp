#include <weir/histogram.hpp>

const weir::duration longest = weir::histogram().max();
