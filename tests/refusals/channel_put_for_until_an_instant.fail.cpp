// expect-error: weir: get_for and put_for wait for a duration, 100ms; get_until and put_until until a weir::time_point of the executor
// How long a put waits is a duration.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

weir::task<weir::channel_status> gives(weir::channel<int>& numbers, weir::time_point until) {
    const weir::channel_status how = co_await numbers.put_for(1, until);
    co_return how;
}

int main() {}
