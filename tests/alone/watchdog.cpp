#include <weir/watchdog.hpp>

void guard(weir::executor& home) { const weir::watchdog dog(home); }
