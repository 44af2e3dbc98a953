#include <weir/clock.hpp>

weir::time_point later(weir::time_point t) { return weir::saturating_add(t, weir::duration(1)); }
