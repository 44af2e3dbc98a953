// weir platform, internal: the one seam under the concurrent core: atomics, parking, clock, random, threads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PLATFORM_HPP
#define WEIR_PLATFORM_PLATFORM_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/processors.hpp>
#include <weir/platform/signal_frames.hpp>
#include <weir/platform/system.hpp>
#include <weir/platform/tick_clock.hpp>

#include <atomic>   // for std::atomic
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint32_t
#include <cstdio>   // for std::fputs
#include <cstdlib>  // for std::abort
#include <mutex>    // for std::mutex
#include <new>      // for std::nothrow

namespace weir::detail {

inline constinit basic_tick_clock<> the_tick_clock;

inline const bool heavy_fence_registered = register_heavy_fence();

// In a header of its own, for those who start one.
class system_thread;

// What the library takes from the system. The concurrent core is a template over such a platform, so that
// a model checker or a test supplies another with the same members; the public names, and whatever is no
// template, fix it to this one. A program that is compiled with another header of this name before this
// one, in all its parts, runs as a whole on what that supplies: tests/exploration/interleavings has such a
// one, to which a new member is to be added, too.
struct standard_platform : objects_of_thread {
    template <class T>
    using atomic = std::atomic<T>;
    using thread = system_thread;
    using mutex = system_mutex;

    // Waits while the word holds `expected`; at most `timeout_ns` (negative: no limit). May return
    // early.
    static void wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                     std::int64_t timeout_ns = -1) noexcept {
        futex_wait(word, expected, timeout_ns);
    }
    static void wake_one(atomic<std::uint32_t>& word) noexcept {
        ++num_wakes();
        futex_wake(word, false);
    }
    static void wake_all(atomic<std::uint32_t>& word) noexcept {
        ++num_wakes();
        futex_wake(word, true);
    }
    // How often the calling thread has woken another, or may have: each takes microseconds.
    static std::uint32_t& num_wakes() noexcept {
        struct per_thread {
            std::uint32_t wakes = 0;
        };
        return of_thread<per_thread>().wakes;
    }

    // A fence between threads that is paid for by one side only. Light: keeps the compiler from
    // moving an access of this thread past it, at no cost. Heavy: is a full fence on all threads,
    // so that each light fence is in full before it or after it. Without a heavy one, who would
    // use them has to do without. It can't be lost any more: who paid nothing relies on it.
    static bool has_heavy_fence() noexcept { return heavy_fence_registered; }
    static void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
    static void heavy_fence() noexcept {
        if (!detail::heavy_fence()) [[unlikely]]
            end_without_fence();
    }

    // A wait for a lock takes long: see there. Other platforms need not have it.
    static void doubt_wait() noexcept { end_if_in_signal_handler(); }

    static void pause() noexcept { cpu_pause(); }
    static void yield() noexcept { yield_thread(); }

    // Nanoseconds of a clock that never goes back, that of std::chrono::steady_clock.
    static std::int64_t now() noexcept { return the_tick_clock.now(); }

    // In a process that was forked, by its one thread, whatever another one did to the clock in the parent.
    static void mend_after_fork() noexcept { the_tick_clock.mend(); }

    // The same, late by some milliseconds but never ahead, for a quick look; 0 if that is not to be had.
    static std::int64_t coarse_now() noexcept { return coarse_clock_ns(); }

    // A seed that differs from call to call; where a thief starts to look, nothing more.
    static std::uint64_t seed() noexcept { return static_cast<std::uint64_t>(now()) * 0x9e3779b97f4a7c15ULL; }

    // Which thread this is.
    static auto this_thread() noexcept { return detail::this_thread(); }

    static void name_thread(const char* name) noexcept { detail::name_thread(name); }

    // How many threads can run at once: see available_processors(). At least 1. In system_thread.hpp.
    static inline unsigned concurrency() noexcept;

    // What this process has used up to now, and has at the moment. In process_usage.hpp.
    static inline process_counts count_process() noexcept;
    static inline process_memory measure_memory() noexcept;
    static unsigned processors() noexcept { return available_processors(); }

    // One of each type for all threads.
    template <class T>
    static T& of_process() noexcept {
        static constinit T one;
        return one;
    }

    // What is never freed; null if there is no memory.
    template <class T>
    static T* make_for_good() noexcept {
        return new (std::nothrow) T;
    }

    // How often something is tried before something costlier is.
    static constexpr int looks_before_sleep = 64;   // of parker
    static constexpr int looks_before_yield = 100;  // of spin_lock, as the next
    static constexpr int yields_before_sleep = 100;
    static constexpr std::uint32_t streak_before_reservation = 32;  // of biased_lock

    // Up to this capacity the ends of a channel have one lock (channel/channel_core.hpp).
    static constexpr std::size_t most_under_one_lock = 2;

    static constexpr std::size_t first_capacity = 256;  // of work_stealing_deque

  private:
    [[noreturn]] WEIR_NOINLINE static void end_without_fence() noexcept {
        std::fputs(
            "weir: the system call membarrier was allowed when the program began, and is refused now, so "
            "that "
            "no lock can be relied on; let the filter that was set since then (seccomp) allow it\n",
            stderr);
        std::abort();
    }
};

}  // namespace weir::detail

#endif
