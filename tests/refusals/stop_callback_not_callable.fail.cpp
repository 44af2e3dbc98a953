// expect-error: weir: stop_callback needs a function to call without arguments
// What is called when a stop is requested is a function without parameters.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/stop_token.hpp>

int main() {
    const weir::stop_source source;
    const weir::stop_callback on_stop(source.get_token(), [](int) {});
}
