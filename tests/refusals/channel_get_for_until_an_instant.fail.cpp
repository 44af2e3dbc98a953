// expect-error: weir: get_for and put_for wait for a duration, 100ms; get_until and put_until until a weir::time_point of the executor
// How long a get waits is a duration.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

weir::task<int> takes(weir::channel<int>& numbers, weir::time_point until) {
    const auto n = co_await numbers.get_for(until);
    co_return n ? *n : 0;
}

int main() {}
