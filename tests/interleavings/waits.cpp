// The two ways to sleep, and a thread that waits for a coroutine.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include <weir/detail/event_count.hpp>

#include <memory>
#include <optional>

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

const interleavings::registered all("waits", {
                                                 {"set", set},
                                                 {"set_or_time_out", set_or_time_out},
                                                 {"pokes", pokes},
                                                 {"event", event},
                                                 {"event_for_all", event_for_all},
                                             });

}  // namespace
