#include <weir/report/log.hpp>

#include <iostream>

void show(const weir::pipeline_stats& stats) { weir::log_lines(std::clog, stats, weir::log_style::document); }
