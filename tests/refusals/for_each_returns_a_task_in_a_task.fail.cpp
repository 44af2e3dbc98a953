// expect-error: weir: what the function of a for_each returns is dropped
// One await is not enough for it.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/task.hpp>

weir::task<> write(int) { co_return; }
weir::task<weir::task<>> later(int n) { co_return write(n); }

auto none = weir::source({1, 2, 3}) | weir::for_each(later);

int main() {}
