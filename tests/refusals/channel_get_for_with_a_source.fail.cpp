// expect-error: weir: behind its limit a timed put or get takes a stop_token
// What ends a wait early is a token, not its source.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

weir::task<int> takes(weir::channel<int>& numbers, weir::stop_source& stop) {
    const auto n = co_await numbers.get_for(weir::duration(1), stop);
    co_return n ? *n : 0;
}

int main() {}
