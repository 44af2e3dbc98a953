// expect-error: co_await this, or nobody waits
// Waiting for admission is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/wait_queue.hpp>
#include <weir/task/task.hpp>

struct everybody {
    using ticket = int;
    weir::detail::admission ask(int) const noexcept { return weir::detail::admission::go; }
};

weir::task<> wait(weir::detail::wait_queue<everybody>& room, weir::detail::slot& me) {
    room.wait(1, me, weir::detail::slot_state::await);
    co_return;
}

int main() {}
