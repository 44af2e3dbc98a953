// expect-error: co_await this, or nobody sleeps
// A sleep that is not awaited does nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

weir::task<> naps() {
    weir::sleep_for(weir::duration(1));
    co_return;
}

int main() { const auto t = naps(); }
