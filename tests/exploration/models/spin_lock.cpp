// The spin lock: what it guards is used by one thread at a time, and seen by the next.
// SPDX-License-Identifier: BSL-1.0
#include <weir/platform/spin_lock.hpp>

#include "suite.hpp"

namespace {

using namespace models;

template <int Threads, int Times>
struct counting : suite<counting<Threads, Times>, Threads> {
    weir::detail::basic_spin_lock<platform> lock;
    plain<int> count{0};

    void run(int) {
        for (int i = 0; i < Times; ++i) {
            lock.lock();
            count.set(count.get() + 1);
            lock.unlock();
        }
    }
    void after() { expect(count.get() == Threads * Times, "an increment was lost"); }
};

struct trying : suite<trying, 3> {
    weir::detail::basic_spin_lock<platform> lock;
    plain<int> count{0};
    int tried = 0;

    void run(int me) {
        if (me == 0) {
            lock.lock();
        } else if (!lock.try_lock()) {
            return;
        }
        ++tried;
        count.set(count.get() + 1);
        lock.unlock();
    }
    void after() { expect(count.get() == tried, "an increment was lost"); }
};

}  // namespace

int main(int argc, char** argv) {
    return run_all(argc, argv,
                   {
                       check<counting<2, 2>>("spin_lock/two threads", 300'000),
                       check<counting<3, 2>>("spin_lock/three threads", 200'000),
                       check<trying>("spin_lock/try_lock", 300'000),
                       check_every_order<counting<2, 1>>("spin_lock/every order", 2),
                   });
}
