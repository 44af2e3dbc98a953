#include <weir/get_result.hpp>

#include <iostream>

void show(const weir::get_result<int>& got) {
    if (got) {
        std::cout << *got;
    } else {
        std::cout << got.status();
    }
}
