// expect-error: weir: a select waits for one time at most
// Of two times the longer one is never over first.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

#include <chrono>

weir::task<> chooses(weir::channel<int>& a) {
    using std::chrono::milliseconds;
    co_await weir::select(weir::after(milliseconds(1)), weir::on_get(a), weir::after(milliseconds(2)));
}

int main() {}
