// expect-error: co_await this, or the slot does not wait
// To be admitted is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/run/worker_set.hpp>
#include <weir/task/task.hpp>

struct crew_of_one : weir::detail::worker_set<weir::measured> {
    weir::task<> work(slot& me) {
        this->wait_for_admission(me);
        co_return;
    }
};

int main() {}
