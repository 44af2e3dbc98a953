#include <weir/platform/spin_lock.hpp>

#include "support/catch.hpp"

#include <mutex>
#include <thread>
#include <vector>

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
