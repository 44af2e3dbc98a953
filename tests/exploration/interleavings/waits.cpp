// Two ways to sleep, a lock, callbacks, and a thread that waits for its own loop.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include <weir/channel/channel.hpp>
#include <weir/platform/biased_lock.hpp>
#include <weir/platform/parking.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <memory>

namespace {

using interleavings::require;
using weir::detail::event_count;
using weir::detail::parker;

// One sets, the owner destroys it as soon as it is awake.
void set() {
    auto flag = std::make_unique<parker>();
    int written = 0;
    interleavings::thread other([&, p = flag.get()] {
        written = 1;
        p->set();
    });
    while (!flag->wait()) {
    }
    require(written == 1, "who was woken sees what was written before");
    flag.reset();
    other.join();
}

void set_or_time_out() {
    parker flag;
    interleavings::thread other([&] { flag.set(); });
    while (!flag.wait(1'000)) {
    }
    require(flag.is_set(), "true means set");
    other.join();
}

// Each poke ends one wait: the owner looks for what came with it.
void pokes() {
    parker flag;
    interleavings::atomic<int> work{0};
    interleavings::thread other([&] {
        for (int i = 0; i < 3; ++i) {
            work.fetch_add(1);
            flag.poke();
        }
    });
    while (work.load() != 3) require(!flag.wait(), "nobody has set it");
    other.join();
}

// Two who sleep until there is work for each of them, and two who make it.
void event() {
    event_count sleepers;
    interleavings::atomic<int> work{0};
    const auto take = [&] {
        for (;;) {
            int seen = work.load();
            while (seen > 0) {
                if (work.compare_exchange_strong(seen, seen - 1)) return;
            }
            const auto ticket = sleepers.prepare_wait();
            if (work.load() > 0) {
                sleepers.cancel_wait();
            } else {
                sleepers.commit_wait(ticket);
            }
        }
    };
    const auto make = [&] {
        work.fetch_add(1);
        sleepers.notify_one();
    };
    interleavings::thread a(take), b(take), c(make), d(make);
    for (interleavings::thread* t : {&a, &b, &c, &d}) t->join();
}

void event_for_all() {
    event_count sleepers;
    interleavings::atomic<bool> open{false};
    const auto pass = [&] {
        while (!open.load()) {
            const auto ticket = sleepers.prepare_wait();
            if (open.load()) {
                sleepers.cancel_wait();
            } else {
                sleepers.commit_wait(ticket);
            }
        }
    };
    interleavings::thread a(pass), b(pass), c([&] {
        open.store(true);
        sleepers.notify_all();
    });
    for (interleavings::thread* t : {&a, &b, &c}) t->join();
}

// What one thread had to itself for a while is taken from it.
void biased_lock() {
    weir::detail::basic_biased_lock<interleavings::platform> lock;
    interleavings::atomic<int> inside{0};
    int sum = 0;
    const auto work = [&](int times) {
        for (int i = 0; i < times; ++i) {
            const auto guard = weir::detail::basic_biased_lock<interleavings::platform>::guard(lock);
            require(inside.fetch_add(1) == 0, "one at a time");
            ++sum;
            inside.fetch_sub(1);
        }
    };
    interleavings::thread a([&] { work(4); }), b([&] { work(2); });
    work(3);
    a.join();
    b.join();
    require(sum == 9, "each was inside as often as it wanted");
}

// A callback may be destroyed while it runs on another thread: that waits for its end.
void stop_callbacks() {
    weir::stop_source source;
    bool there = true;
    interleavings::atomic<int> calls{0};
    int first = 0;
    const auto request = [&] { first += source.request_stop() ? 1 : 0; };
    interleavings::thread a(request), b(request);
    {
        const auto called = [&] {
            calls.fetch_add(1);
            require(there, "no callback runs after its end");
        };
        const weir::stop_callback<decltype(called)> callback(source.get_token(), called);
        calls.load();
    }
    there = false;
    a.join();
    b.join();
    require(calls.load() <= 1 && first == 1, "once at most, and one of them was the first");
}

// A thread runs its own loop, and sleeps there until another one has something for it.
void own_loop() {
    weir::channel<int> c(1);
    interleavings::thread other([&] {
        for (int i = 1; i <= 2; ++i) static_cast<void>(c.blocking_put(int{i}));
        c.close();
    });
    int sum = 0;
    const auto take = [&]() -> weir::task<> {
        while (auto item = co_await c.get()) sum += *item;
    };
    weir::sync_wait(take());
    other.join();
    require(sum == 3, "each item is got once");
}

const interleavings::registered all("waits", {
                                                 {"set", set},
                                                 {"set_or_time_out", set_or_time_out},
                                                 {"pokes", pokes},
                                                 {"event", event},
                                                 {"event_for_all", event_for_all},
                                                 {"biased_lock", biased_lock},
                                                 {"stop_callbacks", stop_callbacks},
                                                 {"own_loop", own_loop},
                                             });

}  // namespace
