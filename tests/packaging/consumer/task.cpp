// The program of those doors that differ from others only in paths and flags: a task on threads.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/version.hpp>

#include <cstdio>  // for std::printf

static weir::task<int> next(weir::thread_pool& pool, int x) {
    co_await weir::schedule(pool);
    co_return x + 1;
}

int main() {
    weir::thread_pool pool(2);
    const int result = weir::sync_wait(pool, next(pool, 7));
    std::printf("weir %d.%d.%d: %d\n", WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR, WEIR_VERSION_PATCH, result);
    return result == 8 ? 0 : 1;
}
