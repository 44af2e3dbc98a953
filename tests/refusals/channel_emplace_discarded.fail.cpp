// expect-error: co_await this, or nothing is put
// An emplace that is not awaited puts nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

int main() {
    weir::channel<int> c(1);
    c.emplace(1);
}
