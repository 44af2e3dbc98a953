// Spin lock, event count, parker, inbox: no wake-up is lost (a deadlock would be one), and what was written
// before it is seen after it. What the lock guards is used by one thread at a time, and seen by the next.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/ready_queue.hpp>
#include <weir/platform/parking.hpp>

#include "suite.hpp"

#include <mutex>
#include <optional>

namespace {

using namespace models;
using event_count = weir::detail::basic_event_count<platform>;
using parker = weir::detail::basic_parker<platform>;

// Waits for a condition that is written and read with seq_cst, as the event count wants it.
template <int Waiters, bool All>
struct awaiting : suite<awaiting<Waiters, All>, Waiters + 1> {
    event_count events;
    models::atomic<int> left{0};
    plain<int> data{0};

    void run(int me) {
        if (me == 0) {
            data.set(1);
            if constexpr (All) {
                left.store(Waiters, std::memory_order_seq_cst);
                events.notify_all();
            } else {
                for (int i = 0; i < Waiters; ++i) {
                    left.fetch_add(1, std::memory_order_seq_cst);
                    events.notify_one();
                }
            }
            return;
        }
        while (!take()) {
            const auto ticket = events.prepare_wait();
            if (take()) {
                events.cancel_wait();
                break;
            }
            events.commit_wait(ticket);
        }
        expect(data.get() == 1, "a waiter went on too early");
    }
    bool take() {
        int seen = left.load(std::memory_order_seq_cst);
        while (seen > 0) {
            if (left.compare_exchange_strong(seen, seen - 1, std::memory_order_seq_cst)) return true;
        }
        return false;
    }
    void after() { expect(!events.notify_all(), "somebody is still counted as waiting"); }
};

// The condition is made and looked at under a lock.
struct under_lock : suite<under_lock, 2> {
    event_count events;
    weir::detail::basic_spin_lock<platform> lock;
    plain<bool> condition{false};

    bool holds() {
        const std::lock_guard guard(lock);
        return condition.get();
    }
    void run(int me) {
        if (me == 0) {
            {
                const std::lock_guard guard(lock);
                condition.set(true);
            }
            events.notify_one();
            return;
        }
        for (;;) {
            const auto ticket = events.prepare_wait();
            if (holds()) {
                events.cancel_wait();
                return;
            }
            events.commit_wait(ticket);
        }
    }
};

// The notification carries what was written before it.
struct carrying : suite<carrying, 2> {
    event_count events;
    plain<int> data{0};
    bool told = false;

    void run(int me) {
        if (me == 0) {
            const auto ticket = events.prepare_wait();
            if (events.commit_wait(ticket, 100)) {
                expect(data.get() == 1, "a notification came before what it tells of");
            }
        } else {
            data.set(1);
            told = events.notify_one();
        }
    }
};

// Two producers and a sleeper at an inbox.
struct injecting : suite<injecting, 3> {
    weir::detail::basic_inbox<platform> inbox;
    event_count events;
    plain<int> items[2];
    int got = 0;

    void run(int me) {
        if (me != 0) {
            items[me - 1].set(me);
            inbox.push(&items[me - 1]);
            events.notify_one();
            return;
        }
        while (got < 2) {
            void* it = inbox.pop();
            if (it == nullptr) {
                const auto ticket = events.prepare_wait();
                it = inbox.pop();
                if (it == nullptr) {
                    events.commit_wait(ticket);
                    continue;
                }
                events.cancel_wait();
            }
            const auto* p = static_cast<plain<int>*>(it);
            expect(p->get() == p - items + 1, "an item came before it was written");
            ++got;
        }
    }
    void after() { expect(inbox.empty(), "an item came twice"); }
};

// Several take from it at once, some of them in batches; one thread's items keep their order.
struct injector_order : suite<injector_order, 3> {
    static constexpr int most = 4;
    weir::detail::basic_inbox<platform> inbox;
    plain<int> items[most];
    int taken[most] = {};

    int number(void* it) {
        const auto* p = static_cast<plain<int>*>(it);
        const int n = static_cast<int>(p - items);
        expect(p->get() == n, "an item came before it was written");
        expect(++taken[n] == 1, "an item came twice");
        return n;
    }
    void run(int me) {
        if (me == 0) {
            for (int i = 0; i < most; ++i) {
                items[i].set(i);
                inbox.push(&items[i]);
            }
            return;
        }
        int last = -1;
        for (int i = 0; i < 2; ++i) {
            void* batch[2];
            const std::size_t n = inbox.pop(batch, 2);
            for (std::size_t k = 0; k < n; ++k) {
                const int it = number(batch[k]);
                expect(it > last, "items changed their order");
                last = it;
            }
        }
    }
    void after() {
        while (void* const it = inbox.pop()) number(it);
        for (const int n : taken) expect(n == 1, "an item was lost");
    }
};

// The owner destroys the flag as soon as it is set.
struct parking : suite<parking, 2> {
    std::optional<parker> flag;
    plain<int> data{0};

    void before() { flag.emplace(); }
    void run(int me) {
        if (me == 0) {
            while (!flag->wait()) {
            }
            flag.reset();
            expect(data.get() == 1, "the flag was set before what it tells of");
        } else {
            data.set(1);
            flag->set();
        }
    }
};

// It is looked at, not waited for.
struct looking : suite<looking, 2> {
    parker flag;
    plain<int> data{0};

    void run(int me) {
        if (me == 0) {
            if (flag.is_set()) expect(data.get() == 1, "the flag was set before what it tells of");
            if (flag.wait(100)) expect(data.get() == 1, "the flag was set before what it tells of");
        } else {
            data.set(1);
            flag.set();
        }
    }
};

// A poke ends one wait, and says that there is something to see; it never sets the flag.
struct poking : suite<poking, 3> {
    parker flag;
    plain<int> poke_data{0};
    plain<int> set_data{0};
    models::atomic<int> poked{0};

    void run(int me) {
        if (me == 0) {
            bool set = false;
            while (!set) {
                set = flag.wait();
                if (poked.load(std::memory_order_relaxed) != 0 && !set) ++pokes;
            }
            expect(flag.is_set(), "a flag that was set stays so");
            expect(set_data.get() == 1, "the flag was set before what it tells of");
        } else if (me == 1) {
            set_data.set(1);
            flag.set();
        } else {
            flag.poke();
            poked.store(1, std::memory_order_relaxed);
        }
    }
    int pokes = 0;
};

// What was written before the poke is seen once the wait has returned, if nothing else can end it.
struct poked_awake : suite<poked_awake, 2> {
    parker flag;
    models::atomic<int> work{0};

    void run(int me) {
        if (me == 0) {
            while (work.load(std::memory_order_relaxed) == 0) {
                expect(!flag.wait(), "a poke is no set");
            }
        } else {
            work.store(1, std::memory_order_relaxed);
            flag.poke();
        }
    }
};

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
                       check<awaiting<1, false>>("event_count/one waiter", 400'000),
                       check<awaiting<2, false>>("event_count/one by one", 300'000),
                       check<awaiting<2, true>>("event_count/all at once", 300'000),
                       check<under_lock>("event_count/condition under a lock", 300'000),
                       check<carrying>("event_count/with a time limit", 300'000),
                       check<injecting>("inbox/a sleeper", 300'000),
                       check<injector_order>("inbox/two takers", 200'000),
                       check<parking>("parker/destroyed at once", 400'000),
                       check<looking>("parker/with a time limit", 300'000),
                       check<poking>("parker/poked and set", 300'000),
                       check<poked_awake>("parker/poked", 400'000),
                       check_every_order<awaiting<1, false>>("event_count/every order", 2),
                       check_every_order<parking>("parker/every order", 3),
                       check<counting<2, 2>>("spin_lock/two threads", 300'000),
                       check<counting<3, 2>>("spin_lock/three threads", 200'000),
                       check<trying>("spin_lock/try_lock", 300'000),
                       check_every_order<counting<2, 1>>("spin_lock/every order", 2),
                   });
}
