#include <weir/report/table.hpp>

#include <iostream>

void show(const weir::pipeline_stats& stats) { std::cout << stats; }
