#include <weir/deadlock_report.hpp>

#include <iostream>

void show(const weir::deadlock_report& who, const weir::stall_report& what) { std::cerr << who << what; }
