#include <weir/report/structure.hpp>

#include <iostream>

void show(const weir::pipeline_description& d) { std::cout << d; }
