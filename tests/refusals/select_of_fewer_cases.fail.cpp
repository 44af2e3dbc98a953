// expect-error: weir: this select has fewer cases
// Cases are counted from 0.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

weir::task<int> chooses(weir::channel<int>& a) {
    auto done = co_await weir::select(weir::on_get(a));
    co_return *done.get<1>();
}

int main() {}
