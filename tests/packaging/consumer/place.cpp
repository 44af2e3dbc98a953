// A failure names the place of its stage, also if this file is in the folder of weir's headers.
// SPDX-License-Identifier: BSL-1.0
#include <weir/weir.hpp>

#include <cstdio>       // for std::puts
#include <exception>    // for std::exception
#include <ranges>       // for std::views::iota
#include <stdexcept>    // for std::runtime_error
#include <string_view>  // for std::string_view

int main() {
    weir::virtual_time time;
    const auto fails = [](int n) -> int {
        if (n == 1) throw std::runtime_error("one is refused");
        return n;
    };
    auto run = (weir::source(std::views::iota(0, 3)) | weir::pipe(fails, {.name = "fails"}) | weir::sink())
                   .start(time);
    try {
        while (run.get()) {
        }
    } catch (const std::exception& error) {
        std::puts(error.what());
        return std::string_view(error.what()).find("(place.cpp:") == std::string_view::npos ? 1 : 0;
    }
    return 1;
}
