#include <weir/platform/tick_clock.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
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
    // What another thread does while this one reads the steady clock, for the how manieth time from now.
    static inline std::function<void()> meanwhile = nullptr;
    static inline int after = 0;
    static inline int rests = 0;

    static void reset(double ticks_per_ns) {
        is_reliable = true;
        time = 1e9;
        rate = ticks_per_ns;
        jump = 0;
        meanwhile = nullptr;
        rests = 0;
    }
    static void interrupt(int reading, std::function<void()> what) {
        after = reading;
        meanwhile = std::move(what);
    }
    static bool reliable() { return is_reliable; }
    static std::uint64_t ticks() { return static_cast<std::uint64_t>(time * rate + jump); }
    static std::int64_t steady() {
        time += 10;
        if (meanwhile && --after == 0) std::exchange(meanwhile, nullptr)();
        return static_cast<std::int64_t>(time) - 5;
    }
    static inline std::function<void()> is_resting = nullptr;
    static void rest() {
        ++rests;
        if (const auto what = is_resting) what();
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
    CHECK(worst < 2'000);
    CHECK(clock.uses_ticks());
}

TEST_CASE("where the counter is steady, the first line is exact, after a look of 25 us") {
    fake::reset(2.0);
    basic_tick_clock<fake> clock;
    clock.now();
    // Each time both clocks are read takes four readings of 10 ns.
    CHECK(fake::time == 1e9 + 40 + 25'000);
    fake::time += 900'000;
    CHECK(clock.now() == time_now());
    CHECK(clock.uses_ticks());
}

namespace {

// What another thread does right before this one takes the lock.
std::function<void()> before_lock = nullptr;
template <class T>
struct interrupted : std::atomic<T> {
    using std::atomic<T>::atomic;
    T exchange(T value, std::memory_order order) noexcept {
        if (before_lock) std::exchange(before_lock, nullptr)();
        return std::atomic<T>::exchange(value, order);
    }
};

}  // namespace

TEST_CASE("a thread that finds the next line already drawn does not draw another") {
    fake::reset(2.0);
    basic_tick_clock<fake, interrupted> clock;
    clock.now();
    fake::time += 1'200'000;
    std::int64_t other = 0;
    before_lock = [&] { other = clock.now(); };
    const std::int64_t mine = clock.now();
    CHECK(before_lock == nullptr);
    CHECK(std::abs(other - time_now()) < 1'000);
    CHECK(mine >= other);
    fake::time += 10'000;
    CHECK(std::abs(clock.now() - time_now()) < 1'000);
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

TEST_CASE("a thread that is held up while it renews the clock makes it go back for nobody") {
    const int reading = GENERATE(1, 2, 3, 4);    // of the four looks at both clocks
    const double gains = GENERATE(-1e-3, 1e-3);  // of the counter, since the clock began
    CAPTURE(reading, gains);
    fake::reset(2.0);
    basic_tick_clock<fake> clock;
    clock.now();
    fake::time += 1'200'000;
    fake::jump = 2.4e6 * gains;
    std::int64_t other = 0;
    std::int64_t other_later = 0;
    fake::interrupt(reading, [&] {
        other = clock.now();
        fake::time += 3'000'000;
        fake::jump += 6e6 * gains;
        other_later = clock.now();
    });
    const std::int64_t mine = clock.now();
    CHECK(other_later >= other);
    CHECK(mine >= other_later);
    std::int64_t before = mine;
    bool forwards = true;
    for (int i = 0; i < 1'000; ++i) {
        fake::time += 10;
        const std::int64_t now = clock.now();
        forwards = forwards && now >= before;
        before = now;
    }
    CHECK(forwards);
    CHECK(clock.uses_ticks());
    CHECK(std::abs(clock.now() - time_now()) < 2'000);
}

TEST_CASE("a clock that was ahead stands still until the steady one is there") {
    fake::reset(2.0);
    basic_tick_clock<fake> clock;
    clock.now();
    fake::time += 999'000;
    fake::jump = 2'000;  // ticks, a microsecond
    const std::int64_t ahead = clock.now();
    CHECK(ahead - time_now() > 900);
    fake::time += 2'000;
    clock.now();  // looks at both clocks again
    CHECK(clock.now() - ahead < 1'500);
    std::int64_t worst = 0;
    for (int i = 0; i < 100; ++i) {
        fake::time += 5'000;
        worst = std::max(worst, std::abs(clock.now() - time_now()));
    }
    CHECK(worst < 500);
}

TEST_CASE("a core whose counter is a little behind reads the beginning of the line") {
    fake::reset(2.0);
    basic_tick_clock<fake> clock;
    clock.now();
    fake::jump = -1'000;
    const std::int64_t before = clock.now();
    for (int i = 0; i < 10; ++i) {
        fake::time += 10;
        CHECK(clock.now() >= before);
    }
    CHECK(clock.uses_ticks());
}

TEST_CASE("a machine that has slept for long may differ by a thousandth, and not by more") {
    const double off = GENERATE(0.5e-3, 5e-3);
    fake::reset(2.0);
    basic_tick_clock<fake> clock;
    clock.now();
    fake::time += 3.6e12;  // an hour
    fake::jump = 3.6e12 * off * 2;
    const std::int64_t now = clock.now();
    CHECK(clock.uses_ticks() == (off < 1e-3));
    CHECK(clock.now() >= now);
    CHECK(std::abs(clock.now() - time_now()) < 1'000);
}

TEST_CASE("a thread that reads the clock during calibration waits for the end of it") {
    fake::reset(2.0);
    basic_tick_clock<fake> clock;
    int waited = -1;
    fake::interrupt(3, [&] {
        // As if it were another thread, to which the first one's lock is a stranger's.
        weir::detail::basic_tick_clock<fake>& other = clock;
        fake::is_resting = [&] {
            waited = fake::rests;
            fake::is_resting = nullptr;
            other.mend();  // so that this ends
        };
        static_cast<void>(other.now());
    });
    static_cast<void>(clock.now());
    CHECK(waited == 1);
    CHECK(clock.uses_ticks());
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
