#include <weir/report/printable.hpp>

#include <string>

std::string text(const weir::pipeline_stats& stats) { return weir::printed(stats); }
static_assert(weir::printable<weir::stall_report> && !weir::printable<int>);
