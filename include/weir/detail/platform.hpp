// weir floor 0: the one seam under the concurrent core: atomics, parking, clock, random, threads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_PLATFORM_HPP
#define WEIR_DETAIL_PLATFORM_HPP

#include <weir/detail/config.hpp>
#include <weir/detail/tick_clock.hpp>

#include <atomic>   // for std::atomic
#include <cstdint>  // for std::int64_t
#include <thread>   // for std::thread, std::this_thread::yield

namespace weir::detail {

inline constinit basic_tick_clock<> the_tick_clock;

inline const bool heavy_fence_registered = register_heavy_fence();

// What the concurrent core takes from the system. Every class that shares memory between threads
// is a template over such a platform; the public names fix it to `standard_platform`. A model
// checker or a simulator supplies another with the same members, and the same source runs there.
struct standard_platform {
    template <class T>
    using atomic = std::atomic<T>;
    using thread = std::thread;

    // Waits while the word holds `expected`; at most `timeout_ns` (negative: no limit). May return
    // early.
    static void wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                     std::int64_t timeout_ns = -1) noexcept {
        futex_wait(word, expected, timeout_ns);
    }
    static void wake_one(atomic<std::uint32_t>& word) noexcept { futex_wake(word, false); }
    static void wake_all(atomic<std::uint32_t>& word) noexcept { futex_wake(word, true); }

    // A fence between threads that is paid for by one side only. Light: keeps the compiler from
    // moving an access of this thread past it, at no cost. Heavy: is a full fence on all threads,
    // so that each light fence is in full before it or after it. Without a heavy one, who would
    // use them has to do without.
    static bool has_heavy_fence() noexcept { return heavy_fence_registered; }
    static void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
    static void heavy_fence() noexcept { detail::heavy_fence(); }

    static void pause() noexcept { cpu_pause(); }
    static void yield() noexcept { std::this_thread::yield(); }

    // Nanoseconds of a clock that never goes back, that of std::chrono::steady_clock.
    static std::int64_t now() noexcept { return the_tick_clock.now(); }

    // The same, late by some milliseconds but never ahead, for a quick look; 0 if that is not to be had.
    static std::int64_t coarse_now() noexcept { return coarse_clock_ns(); }

    // A seed that differs from call to call; where a thief starts to look, nothing more.
    static std::uint64_t seed() noexcept {
        return static_cast<std::uint64_t>(now()) * 0x9e3779b97f4a7c15ULL;
    }

    static unsigned concurrency() noexcept {
        const unsigned n = std::thread::hardware_concurrency();
        return n == 0 ? 1 : n;
    }
};

}  // namespace weir::detail

#endif
