// expect-error: co_await this, or the action may still happen
// The cancellation of a delayed action is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

weir::task<> cancel(weir::detail::delayed_action<void (*)()>& delayed_action) {
    delayed_action.cancel();
    co_return;
}

int main() {}
