#include <weir/insight/profile_result.hpp>

#include <iostream>

void show(const weir::profile_result& found, const weir::profile_progress& how_far) {
    weir::profile_bar bar(std::cerr);
    bar(how_far);
    std::cout << found;
}
