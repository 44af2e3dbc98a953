#include <weir/detail/tick_clock.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

using weir::detail::basic_tick_clock;

namespace {

// Two clocks that the test moves: the counter at `rate` ticks a nanosecond. Each reading of the
// steady one takes 10 ns, so that the beginning, which waits for it, ends.
struct fake {
    static inline bool is_reliable = true;
    static inline double time = 0;
    static inline double rate = 2.5;
    static inline double jump = 0;

    static void reset(double ticks_per_ns) {
        is_reliable = true;
        time = 1e9;
        rate = ticks_per_ns;
        jump = 0;
    }
    static bool reliable() { return is_reliable; }
    static std::uint64_t ticks() { return static_cast<std::uint64_t>(time * rate + jump); }
    static std::int64_t steady() {
        time += 10;
        return static_cast<std::int64_t>(time) - 5;
    }
};

std::int64_t time_now() { return static_cast<std::int64_t>(fake::time); }

}  // namespace

TEST_CASE("it follows the steady clock, whatever the counter's rate") {
    const double rate = GENERATE(1.1, 2.5, 5.0);
    fake::reset(rate);
    basic_tick_clock<fake> clock;
    clock.now();
    CHECK(clock.uses_ticks());
    std::int64_t worst = 0;
    std::int64_t before = 0;
    bool forwards = true;
    for (int i = 0; i < 200'000; ++i) {
        fake::time += i % 7 == 0 ? 200'000 : 3'000;
        const std::int64_t now = clock.now();
        forwards = forwards && now >= before;
        before = now;
        worst = std::max(worst, std::abs(now - time_now()));
    }
    CHECK(forwards);
    CHECK(worst < 1'000);
    CHECK(clock.uses_ticks());
}

TEST_CASE("a counter that drifts is followed without a step back") {
    fake::reset(3.0);
    basic_tick_clock<fake> clock;
    clock.now();
    std::int64_t worst = 0;
    std::int64_t before = 0;
    bool forwards = true;
    for (int i = 0; i < 100'000; ++i) {
        fake::time += 100'000;
        fake::jump += i % 2'000 < 1'000 ? 3 : -3;  // 10 ppm, now faster, now slower
        const std::int64_t now = clock.now();
        forwards = forwards && now >= before;
        before = now;
        worst = std::max(worst, std::abs(now - time_now()));
    }
    CHECK(forwards);
    CHECK(worst < 50'000);
    CHECK(clock.uses_ticks());
}

TEST_CASE("a counter that jumps is given up, and the time still never goes back") {
    const double jump = GENERATE(1e10, -1e9);
    fake::reset(2.0);
    basic_tick_clock<fake> clock;
    for (int i = 0; i < 1'000; ++i) {
        fake::time += 10'000;
        clock.now();
    }
    REQUIRE(clock.uses_ticks());
    std::int64_t before = clock.now();
    fake::jump = jump;
    bool forwards = true;
    for (int i = 0; i < 1'000; ++i) {
        fake::time += 10'000;
        const std::int64_t now = clock.now();
        forwards = forwards && now >= before;
        before = now;
    }
    CHECK(forwards);
    CHECK_FALSE(clock.uses_ticks());
    const std::int64_t then = clock.now();
    fake::time += 1'000'000;
    CHECK(std::abs(clock.now() - then - 1'000'000) < 100);
}

TEST_CASE("without a reliable counter it is the steady clock") {
    fake::reset(2.0);
    fake::is_reliable = false;
    basic_tick_clock<fake> clock;
    for (int i = 0; i < 100; ++i) {
        fake::time += 12'345;
        const std::int64_t now = clock.now();
        CHECK(now == time_now() - 5);
    }
    CHECK_FALSE(clock.uses_ticks());
}

TEST_CASE("a counter slower than a gigahertz is not used") {
    fake::reset(0.5);
    basic_tick_clock<fake> clock;
    clock.now();
    CHECK_FALSE(clock.uses_ticks());
}

TEST_CASE("the system's clock goes forward for each thread") {
    basic_tick_clock<> clock;
    std::atomic<bool> forwards{true};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            std::int64_t before = clock.now();
            for (int i = 0; i < 300'000; ++i) {
                const std::int64_t now = clock.now();
                if (now < before) forwards = false;
                before = now;
            }
        });
    }
    for (auto& t : threads) t.join();
    CHECK(forwards);
}
