#include <weir/time_limit.hpp>

weir::duration limit_of(const weir::time_limit_exceeded& late) { return late.limit(); }
