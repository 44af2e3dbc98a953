// expect-error: co_await this, or nothing is got
// A batched get that is not awaited does nothing.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

#include <array>

int main() {
    weir::channel<int> c(1);
    std::array<int, 2> into{};
    c.get_some(into);
}
