// expect-error: weir: a plain loop can't wait for a channel
// A plain loop has no co_await between its steps.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

#include <memory>

int sum(weir::channel<std::unique_ptr<int>>& numbers) {
    int all = 0;
    for (const auto& n : numbers) all += *n;
    return all;
}

int main() {}
