// expect-error: co_await this, or the action may still happen
// Calling an alarm off is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/delayed_action.hpp>
#include <weir/task/task.hpp>

weir::task<> call_off(weir::detail::delayed_action<void (*)()>& delayed_action) {
    delayed_action.off();
    co_return;
}

int main() {}
