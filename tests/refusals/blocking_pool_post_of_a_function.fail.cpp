// expect-error: weir: an executor runs coroutines, not functions
// Another library's pools take functions.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/blocking_pool.hpp>

int main() {
    weir::blocking_pool pool(1);
    pool.post([] {});
}
