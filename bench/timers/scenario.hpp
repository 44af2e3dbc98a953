// The parameters of a group of `timers`.
#ifndef BENCH_TIMERS_SCENARIO_HPP
#define BENCH_TIMERS_SCENARIO_HPP

#include <chrono>
#include <cstdint>

#include "common/check.hpp"
#include "common/harness.hpp"
#include "common/tally.hpp"

namespace timers {

enum class shape {
    fire,          // each timer fires
    cancel,        // all are cancelled when the last has been added
    virtual_time,  // each timer fires, and no thread waits for it
};

struct scenario {
    shape what;
    unsigned workers;
    std::uint64_t size;  // number of timers at a time
};

// From 0 to 10 ms; or so long that the timer can't fire.
inline std::chrono::nanoseconds delay(const scenario& s, std::uint64_t i) {
    if (s.what == shape::cancel) return std::chrono::hours(1) + std::chrono::nanoseconds(i);
    std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 27;
    return std::chrono::nanoseconds(x % 10'000'000);
}

// The body of a contestant: repeats `once`, which returns the number of timers that ended correctly.
template <class Once>
bench::group::body repeat(const scenario& s, Once once) {
    return [s, once](std::uint64_t n) {
        for (std::uint64_t done = 0; done < n; done += s.size) {
            bench::check(once() == s.size, "timers");
        }
    };
}

}  // namespace timers

#endif
