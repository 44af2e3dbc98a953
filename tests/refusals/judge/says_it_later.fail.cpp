// expect-error: weir: sync_wait needs an awaitable
// The sentence comes behind another error.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/sync_wait.hpp>

int number = "one";
auto waited = (weir::sync_wait(5), 0);

int main() {}
