#include <weir/platform/parking.hpp>

#include "support/catch.hpp"

#include <weir/platform/platform.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using weir::detail::parker;

namespace {

// A platform on which nobody comes: time passes while a thread sleeps.
struct alone : weir::detail::standard_platform {
    static inline std::int64_t time = 0;
    static inline int sleeps = 0, wakes = 0;
    static std::int64_t now() noexcept { return time; }
    static void wait(atomic<std::uint32_t>&, std::uint32_t, std::int64_t timeout_ns) noexcept {
        ++sleeps;
        time += timeout_ns;
    }
    static void wake_all(atomic<std::uint32_t>&) noexcept { ++wakes; }
};

}  // namespace

TEST_CASE("a parker is set or poked until the next wait, or for good") {
    weir::detail::parker p;
    CHECK_FALSE(p.is_set_or_poked());
    p.poke();
    CHECK(p.is_set_or_poked());
    CHECK_FALSE(p.is_set());
    CHECK_FALSE(p.wait(0));
    CHECK_FALSE(p.is_set_or_poked());
    p.set();
    CHECK(p.wait(0));
    CHECK(p.is_set_or_poked());
}

TEST_CASE("a parker that is set doesn't block, before and after") {
    parker p;
    CHECK_FALSE(p.is_set());
    p.set();
    CHECK(p.is_set());
    CHECK(p.wait());
    CHECK(p.wait(0));
    CHECK(p.is_set());
}

TEST_CASE("waiting for a parker that nobody sets ends at the timeout") {
    parker p;
    CHECK_FALSE(p.wait(0));
    CHECK_FALSE(p.wait(1));
    CHECK_FALSE(p.wait(100'000));
    CHECK_FALSE(p.is_set());
}

TEST_CASE("a poke ends one wait and sets nothing") {
    parker p;
    p.poke();
    CHECK_FALSE(p.is_set());
    CHECK_FALSE(p.wait());
    p.poke();
    p.set();
    CHECK(p.wait());
    CHECK(p.wait());
}

TEST_CASE("a parker shows the waiter what the setter wrote, and may be destroyed at once") {
    for (int i = 0; i < 500; ++i) {
        int written = 0;
        auto p = std::make_unique<parker>();
        std::thread setter([&written, flag = p.get()] {
            written = 1;
            flag->set();
        });
        const bool set = p->wait();
        p.reset();
        REQUIRE(set);
        REQUIRE(written == 1);
        setter.join();
    }
}

TEST_CASE("a poke reaches a sleeper") {
    parker p;
    std::thread other([&] { p.poke(); });
    CHECK_FALSE(p.wait());
    other.join();
}

TEST_CASE("after a wait that a poke has ended the next one sleeps, and wakes nobody") {
    weir::detail::basic_parker<alone> p;
    alone::sleeps = alone::wakes = 0;
    p.poke();
    CHECK_FALSE(p.wait(100));
    CHECK(alone::sleeps == 0);
    CHECK_FALSE(p.wait(100));  // the poke is used up
    CHECK(alone::sleeps == 1);
    CHECK_FALSE(p.wait(100));
    CHECK(alone::sleeps == 2);
    p.poke();  // nobody sleeps now
    p.set();
    CHECK(alone::wakes == 0);
    CHECK(p.wait(100));
    CHECK(p.is_set());
}

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

using weir::detail::spin_lock;

TEST_CASE("a spin lock can be taken once until it is given back") {
    spin_lock lock;
    CHECK(lock.try_lock());
    CHECK_FALSE(lock.try_lock());
    lock.unlock();
    {
        const std::lock_guard guard(lock);
        CHECK_FALSE(lock.try_lock());
    }
    CHECK(lock.try_lock());
    lock.unlock();
}

TEST_CASE("a spin lock lets one thread in at a time and shows it what the last one wrote") {
    spin_lock lock;
    long counter = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 5'000; ++k) {
                const std::lock_guard guard(lock);
                ++counter;
            }
        });
    }
    for (auto& t : threads) t.join();
    CHECK(counter == 20'000);
}

namespace {

// A platform whose threads meet a lock that is held for long: it notes what the waiter does.
struct patient_platform : weir::detail::standard_platform {
    static inline int pauses = 0, yields = 0, waits = 0;
    static inline weir::detail::basic_spin_lock<patient_platform>* held = nullptr;
    static void pause() noexcept { ++pauses; }
    static void yield() noexcept { ++yields; }
    static void wait(atomic<std::uint32_t>&, std::uint32_t, std::int64_t timeout_ns) noexcept {
        if (timeout_ns > 0 && ++waits == 3) held->unlock();
    }
};

}  // namespace

TEST_CASE("a waiter for a spin lock spins, then yields, then sleeps") {
    weir::detail::basic_spin_lock<patient_platform> lock;
    patient_platform::held = &lock;
    lock.lock();
    lock.lock();  // gets it when the third sleep has unlocked it
    lock.unlock();
    CHECK(patient_platform::pauses == 100);
    CHECK(patient_platform::yields == 100);
    CHECK(patient_platform::waits == 3);
}
