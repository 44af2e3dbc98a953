// expect-error: co_await this, or nothing is got
// Without co_await nothing is got.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>

#include <chrono>

void takes(weir::channel<int>& numbers) { numbers.get_for(std::chrono::milliseconds(100)); }

int main() {}
