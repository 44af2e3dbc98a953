// expect-error: co_await this, or nothing is put
// A put that is not awaited does nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

int main() {
    weir::channel<int> c(1);
    c.put(1);
}
