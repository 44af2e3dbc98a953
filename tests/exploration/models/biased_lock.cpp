// The biased lock: owner and others exclude each other, whoever has it reserved, and each sees what the
// ones before did.
// SPDX-License-Identifier: BSL-1.0
#include <weir/platform/biased_lock.hpp>

#include "suite.hpp"

namespace {

using namespace models;
using lock_type = weir::detail::basic_biased_lock<platform>;

struct guarded {
    lock_type lock;
    plain<int> count{0};

    void add() {
        const lock_type::guard held(lock);
        count.set(count.get() + 1);
    }
    // The second time in a row reserves it.
    void reserve() {
        add();
        add();
    }
};

// Thread 0 has it reserved, the others take that away.
template <int Threads, int Times>
struct revoking : suite<revoking<Threads, Times>, Threads> {
    guarded it;

    void before() {
        this->there.plays(0, [&] { it.reserve(); });
    }
    void run(int) {
        for (int i = 0; i < Times; ++i) it.add();
    }
    void after() { expect(it.count.get() == 2 + Threads * Times, "an increment was lost"); }
};

// Nobody has it reserved at first; whoever is lucky does, and loses it.
struct reserving : suite<reserving, 2> {
    guarded it;

    void run(int) {
        for (int i = 0; i < 4; ++i) it.add();
    }
    void after() { expect(it.count.get() == 8, "an increment was lost"); }
};

// Two locks of one level, both reserved by thread 0: who revokes one may find its owner in the other.
struct two_locks : suite<two_locks, 2> {
    guarded a;
    guarded b;

    void before() {
        there.plays(0, [&] {
            a.reserve();
            b.reserve();
        });
    }
    void run(int me) {
        if (me == 0) {
            a.add();
            b.add();
            a.add();
        } else {
            a.add();
            b.add();
        }
    }
    void after() { expect(a.count.get() == 5 && b.count.get() == 4, "an increment was lost"); }
};

// The rare case: both are held at the same time.
struct nested : suite<nested, 2> {
    guarded a;
    guarded b;

    void before() {
        there.plays(0, [&] {
            a.reserve();
            b.reserve();
        });
    }
    void run(int) {
        for (int i = 0; i < 2; ++i) {
            const lock_type::guard held(a.lock);
            const int before = a.count.get();
            b.add();
            a.count.set(before + 1);
        }
    }
    void after() { expect(a.count.get() == 6 && b.count.get() == 6, "an increment was lost"); }
};

// Thread 1 gets the record of thread 0, which is over, and with it its reservation.
struct inheriting : suite<inheriting, 3> {
    guarded it;

    void before() {
        there.plays(0, [&] { it.reserve(); });
    }
    void run(int me) {
        if (me == 1) {
            while (!there.is_over(0)) platform::yield();
        }
        it.add();
        it.add();
    }
    void after() { expect(it.count.get() == 8, "an increment was lost"); }
};

}  // namespace

int main(int argc, char** argv) {
    return run_all(argc, argv,
                   {
                       check<revoking<2, 2>>("biased_lock/owner and one other", 300'000),
                       check<revoking<3, 2>>("biased_lock/owner and two others", 200'000),
                       check<reserving>("biased_lock/reserved by turns", 200'000),
                       check<two_locks>("biased_lock/two locks of an owner", 300'000),
                       check<nested>("biased_lock/one inside the other", 200'000),
                       check<inheriting>("biased_lock/a record is used again", 200'000),
                       check_every_order<revoking<2, 1>>("biased_lock/every order", 1),
                   });
}
