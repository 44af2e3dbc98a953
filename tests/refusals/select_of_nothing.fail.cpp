// expect-error: weir: select chooses among puts and gets of channels, and there is none
// A time alone is a sleep.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

#include <chrono>

weir::task<> chooses() { co_await weir::select(weir::after(std::chrono::milliseconds(1))); }

int main() {}
