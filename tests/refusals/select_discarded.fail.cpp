// expect-error: co_await this, or nothing is chosen
// Without co_await nothing is chosen.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

void chooses(weir::channel<int>& a) { weir::select(weir::on_get(a)); }

int main() {}
