#include <weir/platform/system.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace detail = weir::detail;

TEST_CASE("the processor's counter goes forward, where it is said to be reliable") {
    const bool reliable = detail::ticks_are_reliable();
    CHECK(detail::ticks_are_reliable() == reliable);
    const std::uint64_t before = detail::read_ticks();
    const std::uint64_t after = detail::read_ticks();
    CHECK(before <= after);
    if (reliable) CHECK(after != 0);
}

#if defined(__linux__) && defined(__x86_64__)
TEST_CASE(
    "the processor's counter is reliable where the system says that it never stops, and tells the time by "
    "it") {
    const auto has_line_with = [](const char* file, const std::string& what) {
        std::ifstream in(file);
        std::string line;
        while (std::getline(in, line)) {
            if ((line + ' ').find(what + ' ') != std::string::npos) return true;
        }
        return false;
    };
    CHECK(detail::ticks_are_reliable() ==
          (has_line_with("/proc/cpuinfo", " nonstop_tsc") &&
           has_line_with("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc")));
}
#endif

TEST_CASE("the coarse clock is the steady one, late or not there, and never ahead") {
    const std::int64_t coarse = detail::coarse_clock_ns();
    const std::int64_t now =
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    CHECK(coarse <= now);
#if defined(__linux__)
    CHECK(coarse > 0);
#else
    CHECK(coarse >= 0);
#endif
}

TEST_CASE("a thread doesn't wait at a word that holds something else, nor longer than its limit") {
    std::atomic<std::uint32_t> word{1};
    detail::futex_wait(word, 0, -1);
    detail::futex_wait(word, 1, 0);
    detail::futex_wait(word, 1, 1);
    CHECK(word == 1);
}

TEST_CASE("waiters at a word are woken one at a time or all at once, with a time limit or without") {
    for (const bool all : {false, true}) {
        std::atomic<std::uint32_t> word{0};
        std::atomic<int> begun{0}, woken{0};
        std::vector<std::thread> threads;
        for (const std::int64_t limit : {std::int64_t{-1}, std::int64_t{3'600'000'000'000}}) {
            threads.emplace_back([&word, &begun, &woken, limit] {
                ++begun;
                while (word == 0) detail::futex_wait(word, 0, limit);
                ++woken;
            });
        }
        while (begun != 2) detail::yield_thread();
        CHECK(woken == 0);
        word = 1;
        while (woken != 2) {
            detail::futex_wake(word, all);
            detail::yield_thread();
        }
        for (std::thread& t : threads) t.join();
    }
}

TEST_CASE("each thread has a name of its own") {
    const auto here = detail::this_thread();
    CHECK(here == detail::this_thread());
    bool same = true;
    std::thread([&] { same = here == detail::this_thread(); }).join();
    CHECK_FALSE(same);
}

#if defined(__linux__)
TEST_CASE("a thread may have its waits end on time") {
    int before = 0;
    int after = 0;
    std::thread([&] {
        before = prctl(PR_GET_TIMERSLACK);
        detail::end_waits_on_time();
        after = prctl(PR_GET_TIMERSLACK);
    }).join();
    CHECK(before > after);
    CHECK(after == 1'000);
    CHECK(prctl(PR_GET_TIMERSLACK) == before);  // of that thread alone
}
#endif
