// expect-error: co_await this, or the timeout is not off
// Calling an alarm off is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/timeout.hpp>

weir::task<> call_off(weir::detail::timeout<void (*)()>& timeout) {
    timeout.off();
    co_return;
}

int main() {}
