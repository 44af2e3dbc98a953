#include <weir/platform/event_count.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <thread>
#include <vector>

using weir::detail::event_count;

TEST_CASE("notifying when nobody waits does nothing") {
    event_count event;
    CHECK_FALSE(event.notify_one());
    CHECK_FALSE(event.notify_all());
}

TEST_CASE("a cancelled wait counts no longer") {
    event_count event;
    static_cast<void>(event.prepare_wait());
    CHECK(event.notify_one());
    event.cancel_wait();
    CHECK_FALSE(event.notify_one());
}

TEST_CASE("a notification between prepare and commit turns the waiter back") {
    event_count event;
    const auto ticket = event.prepare_wait();
    CHECK(event.notify_one());
    CHECK(event.commit_wait(ticket));
    CHECK_FALSE(event.notify_one());
}

TEST_CASE("a wait ends at its timeout without a notification") {
    event_count event;
    CHECK_FALSE(event.commit_wait(event.prepare_wait(), 1));
    CHECK_FALSE(event.commit_wait(event.prepare_wait(), 0));
    CHECK_FALSE(event.notify_one());
}

TEST_CASE("notify_all lets every waiter go, also one that sleeps without a limit") {
    event_count event;
    std::atomic<bool> open{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            while (!open.load()) {
                const auto ticket = event.prepare_wait();
                if (open.load()) {
                    event.cancel_wait();
                } else {
                    event.commit_wait(ticket);
                }
            }
        });
    }
    open.store(true);
    event.notify_all();
    for (auto& t : threads) t.join();
    CHECK_FALSE(event.notify_one());
}

TEST_CASE("two threads that take turns through two event counts miss no wake-up") {
    constexpr int rounds = 2'000;
    event_count events[2];
    std::atomic<int> turn{0};
    const auto play = [&](int me) {
        for (int i = 0; i < rounds; ++i) {
            while (turn.load(std::memory_order_seq_cst) % 2 != me) {
                const auto ticket = events[me].prepare_wait();
                if (turn.load(std::memory_order_seq_cst) % 2 == me) {
                    events[me].cancel_wait();
                } else {
                    events[me].commit_wait(ticket);
                }
            }
            turn.fetch_add(1, std::memory_order_seq_cst);
            events[1 - me].notify_one();
        }
    };
    std::thread other(play, 1);
    play(0);
    other.join();
    CHECK(turn.load() == 2 * rounds);
}
