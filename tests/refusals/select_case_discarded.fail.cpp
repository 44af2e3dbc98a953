// expect-error: give this to select
// A case alone does nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

void takes(weir::channel<int>& a) { weir::on_get(a); }

int main() {}
