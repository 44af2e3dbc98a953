// The watch over a pool's idle workers, in the hands of workers that do what those of thread_pool do: what
// comes from outside is found, and the pool ends. A worker that slept on would be a deadlock.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/idle_workers.hpp>
#include <weir/executor/ready_queue.hpp>

#include "suite.hpp"

namespace {

using namespace models;

// Sleeps until it is chosen, or the end. Nobody here is too many.
template <class Watch>
bool is_to_watch(Watch& watch) {
    return watch.sleep([] { return false; }) == Watch::woken::to_watch;
}

// Workers are the threads 0 .. Workers - 1, the last one posts from outside. In a chain each item comes when the
// one before has begun, and ends when the last has: each needs a worker of its own.
enum class items { apart, in_a_chain };

template <int Workers, int Items, items Are = items::apart>
struct pool : suite<pool<Workers, Items, Are>, Workers + 1> {
    weir::detail::basic_idle_workers<platform> watch{Workers};
    weir::detail::basic_inbox<platform> inbox;
    models::atomic<bool> stopping{false};
    plain<int> things[Items];
    bool has_begun[Items] = {};
    int ran = 0;

    void run(int me) {
        if (me == Workers) {
            for (plain<int>& it : things) {
                it.set(1);
                inbox.push(&it);
                watch.request_search();
                while (Are == items::in_a_chain && !has_begun[&it - things]) platform::yield();
            }
            stopping.store(true, std::memory_order_seq_cst);
            watch.request_search();
            return;
        }
        for (;;) {
            void* found = inbox.pop();
            if (found == nullptr) found = idle();
            if (found == nullptr) return;
            auto* const item = static_cast<plain<int>*>(found);
            expect(item->get() == 1, "an item came before it was written");
            if constexpr (Are == items::in_a_chain) {
                has_begun[item - things] = true;
                while (!has_begun[Items - 1]) platform::yield();
            }
            ++ran;
        }
    }

    void* idle() {
        const bool mine = watch.go_idle();
        if (!mine && !is_to_watch(watch)) return nullptr;
        void* const found = keep_watch();
        if (found == nullptr) {
            watch.close();
            return nullptr;
        }
        watch.leave();
        if (watch.unwatched() && !inbox.empty()) watch.request_search();
        return found;
    }

    // Naps without limit, so that only a call ends one: as where there are no timers and nobody works.
    void* keep_watch() {
        for (;;) {
            if (void* const found = inbox.pop()) return found;
            const bool alone = watch.all_idle();
            const auto ticket = watch.announce(alone ? watch.never : platform::now() + 100, true);
            const bool over = alone && stopping.load(std::memory_order_seq_cst);
            void* const found = inbox.pop();
            if (found != nullptr || over) {
                watch.stay_up();
                return found;
            }
            watch.nap(ticket, alone ? -1 : 100);
        }
    }

    void after() { expect(ran == Items && inbox.empty(), "an item was not run"); }
};

// A worker that queues on its own side, with a relaxed store and no fence, need not call unless it sees
// that nobody watches; then somebody looks.
struct from_inside : suite<from_inside, 2> {
    weir::detail::basic_idle_workers<platform> watch{2};
    weir::detail::basic_inbox<platform> inbox;  // stands for the queue of worker 0
    plain<int> thing{0};
    bool found = false;

    void run(int me) {
        if (me == 0) {
            thing.set(1);
            inbox.push(&thing);
            if (watch.unwatched()) watch.request_search();
            while (!found) platform::yield();  // stuck in a long one
            watch.go_idle();
            watch.close();
            return;
        }
        // Works, finds nothing, goes idle; naps as long as somebody works.
        const bool mine = watch.go_idle();
        if (!mine && !is_to_watch(watch)) return;
        for (;;) {
            const auto ticket = watch.announce(platform::now() + 100, true);
            void* const it = inbox.pop();
            if (it != nullptr) {
                watch.stay_up();
                expect(static_cast<plain<int>*>(it)->get() == 1, "it came before it was written");
                break;
            }
            watch.nap(ticket, 100);
        }
        watch.leave();
        found = true;
    }
};

// Several call at the same time, for different instants.
struct deadlines : suite<deadlines, 3> {
    weir::detail::basic_idle_workers<platform> watch{1};
    models::atomic<std::int64_t> due[2]{1'000, 1'000};

    void run(int me) {
        if (me != 0) {
            due[me - 1].store(10 * me, std::memory_order_seq_cst);
            watch.request_search(10 * me);
            return;
        }
        watch.go_idle();
        for (;;) {
            const std::int64_t next = earliest();
            if (next == 10) break;
            const auto ticket = watch.announce(next, true);
            if (earliest() < next) {
                watch.stay_up();
                continue;
            }
            watch.nap(ticket, -1);  // as if the timers were never: a call for an earlier one ends it
        }
    }
    std::int64_t earliest() {
        std::int64_t least = 1'000;
        for (auto& d : due) {
            const std::int64_t at = d.load(std::memory_order_seq_cst);
            if (at < least) least = at;
        }
        return least;
    }
};

}  // namespace

int main(int argc, char** argv) {
    return run_all(argc, argv,
                   {
                       check<pool<1, 2>>("watch/one worker", 300'000),
                       check<pool<2, 2>>("watch/two workers", 200'000),
                       check<pool<3, 1>>("watch/three workers", 100'000),
                       check<pool<2, 2, items::in_a_chain>>("watch/two who need each other", 200'000),
                       check<pool<3, 3, items::in_a_chain>>("watch/three who need each other", 200'000),
                       check<from_inside>("watch/queued by a worker", 200'000),
                       check<deadlines>("watch/earlier deadlines", 200'000),
                       check_every_order<pool<1, 1>>("watch/every order", 2),
                   });
}
