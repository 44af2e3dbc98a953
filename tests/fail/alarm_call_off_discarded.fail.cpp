// expect-error: co_await this, or the alarm is not off
// Calling an alarm off is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/alarm.hpp>
#include <weir/task/task.hpp>

weir::task<> call_off(weir::detail::alarm<void (*)()>& alarm) {
    alarm.off();
    co_return;
}

int main() {}
