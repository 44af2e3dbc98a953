#include <weir/sleep.hpp>

auto nap() { return weir::sleep_for(weir::duration(1'000)); }
auto sleep_in(weir::time_point until, weir::stop_token stop) { return weir::sleep_until(until, stop); }
auto step_aside() { return weir::yield(); }
