#include <weir/stats.hpp>

double full(const weir::channel_stats& queue) { return queue.readiness(); }
