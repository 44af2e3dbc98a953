// expect-error: these stop_on_signals are gone at the end of this expression
// Nobody would hear of the signals.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/stop_on_signals.hpp>

int main() {
    const weir::stop_token token = weir::stop_on_signals({SIGINT});
    return token.stop_requested() ? 1 : 0;
}
