// expect-error: it says something only as long as it exists
// What says that a coroutine waits elsewhere lives as long as it waits.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/external_wait.hpp>

void wait_elsewhere() { weir::external_wait(); }

int main() {}
