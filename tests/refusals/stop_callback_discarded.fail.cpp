// expect-error: it is called only while this object lives
// A stop callback that is not given a name is gone at once, and never called.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/stop_token.hpp>

int main() {
    const weir::stop_source source;
    weir::stop_callback(source.get_token(), [] {});
}
