// expect-error: co_await this, or nobody goes first
// Giving way is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/crew.hpp>
#include <weir/task.hpp>

struct crew_of_one : weir::detail::crew<weir::measured> {
    weir::task<> work(slot& me) {
        this->give_way(me);
        co_return;
    }
};

int main() {}
