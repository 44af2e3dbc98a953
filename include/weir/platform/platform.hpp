// weir platform, internal: atomics, waits, clock, seeds and threads of the system, as one replaceable type
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PLATFORM_HPP
#define WEIR_PLATFORM_PLATFORM_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/system.hpp>
#include <weir/platform/tick_clock.hpp>

#include <atomic>   // for std::atomic
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint32_t
#include <cstdio>   // for std::fputs
#include <cstdlib>  // for std::abort
#include <mutex>    // for std::mutex
#include <new>      // for std::nothrow

#if __has_include(<unistd.h>) && __has_include(<unwind.h>) && !defined(_WIN32)
#include <unistd.h>  // for write
#include <unwind.h>  // for _Unwind_Backtrace
#endif

namespace weir::detail {

inline constinit basic_tick_clock<> the_tick_clock;

inline const bool heavy_fence_registered = register_heavy_fence();

// Called once in a wait for a lock, after the thread has slept about 1000 times: some 50 ms. If this thread
// is in a signal handler, the handler may have interrupted the holder of the lock on this thread. The wait
// would never end: prints a message and aborts. No effect on Windows, without <unwind.h>, or if the unwinder
// can't identify frames of signals.
WEIR_NOINLINE inline void end_if_in_signal_handler() noexcept {
#if __has_include(<unistd.h>) && __has_include(<unwind.h>) && !defined(_WIN32)
    bool found = false;
    // Only in a frame that a signal interrupted, the instruction pointer is not behind a call; `by_signal` is
    // 1 then.
    const auto look = [](_Unwind_Context* frame, void* to) -> _Unwind_Reason_Code {
        int by_signal = 0;
        _Unwind_GetIPInfo(frame, &by_signal);
        if (by_signal == 0) return _URC_NO_REASON;
        *static_cast<bool*>(to) = true;
        return _URC_END_OF_STACK;
    };
    _Unwind_Backtrace(look, &found);
    if (!found) return;
    static constexpr char text[] =
        "weir: a signal handler waits for a lock, which the thread that it interrupted may hold: it must not "
        "call request_stop, nor anything else of the library; weir::stop_on_signals({SIGINT, SIGTERM}) gives "
        "a token for runs\n";
    [[maybe_unused]] const auto n = ::write(2, text, sizeof text - 1);
    std::abort();
#endif
}

// Defined in system_thread.hpp, as <thread> is heavy.
class system_thread;

// The services of the system that the library uses. The concurrent core is a template on the platform, so
// that a model checker or a test can supply another type with the same members. Public names, and code that
// is no template, use this platform. A header of the same path that comes first in the include path of all
// files replaces this header: tests/exploration/interleavings/include has one. New members have to be added
// to that header, and to tests/exploration/models/platform.hpp.
struct standard_platform : objects_of_thread {
    template <class T>
    using atomic = std::atomic<T>;
    using thread = system_thread;
    using mutex = system_mutex;

    // Waits while the word holds `expected`, for at most `timeout_ns` (negative: no limit). May return early.
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
    // How often the calling thread has woken threads. Other functions may count their wake-ups here, too.
    // Each wake-up takes microseconds.
    static std::uint32_t& num_wakes() noexcept {
        struct per_thread {
            std::uint32_t wakes = 0;
        };
        return of_thread<per_thread>().wakes;
    }

    // Asymmetric fences: only one side pays. A light fence costs nothing: it keeps the compiler from moving
    // accesses across it. A heavy fence is a full fence on all threads, so it acts as if each light fence
    // were a full one. Users must check `has_heavy_fence` first. If a heavy fence fails later, the program
    // ends, as other threads have relied on it.
    static bool has_heavy_fence() noexcept { return heavy_fence_registered; }
    static void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
    static void heavy_fence() noexcept {
        if (!detail::heavy_fence()) [[unlikely]]
            end_without_fence();
    }

    // Called once in a wait for a lock that takes some 50 ms: ends the program if the wait can't end. Other
    // platforms need not have this function.
    static void check_long_wait() noexcept { end_if_in_signal_handler(); }

    static void pause() noexcept { cpu_pause(); }
    static void yield() noexcept { yield_thread(); }

    // The time of std::chrono::steady_clock in nanoseconds, exact to 100 ns, or 2 us at first. Monotonic.
    static std::int64_t now() noexcept { return the_tick_clock.now(); }

    // Called after a fork by the child's only thread: releases the clock's lock, if another thread held it.
    static void mend_after_fork() noexcept { the_tick_clock.mend(); }

    // A faster clock, some milliseconds behind the steady clock, never ahead of it; 0 if not available.
    static std::int64_t coarse_now() noexcept { return coarse_clock_ns(); }

    // A seed that nearly always differs from call to call. Only for choices that need little randomness.
    static std::uint64_t seed() noexcept { return static_cast<std::uint64_t>(now()) * 0x9e3779b97f4a7c15ULL; }

    // The id of the calling thread.
    static auto this_thread() noexcept { return detail::this_thread(); }

    static void name_thread(const char* name) noexcept { detail::name_thread(name); }

    // The number of processors that this thread may use, by its affinity mask and the process's CPU quota; at
    // least 1. If the mask is unknown: all processors. Defined in system_thread.hpp.
    static inline unsigned concurrency() noexcept;

    // Resource usage of this process so far; its memory, now and at the peak; and the number of processors
    // that it may use. Unknown figures are negative, an unknown number of processors is 0. Defined in
    // system_info.hpp.
    static process_counts count_process() noexcept;
    static process_memory measure_memory() noexcept;
    static inline unsigned processors() noexcept;

    // A global object, one of each type.
    template <class T>
    static T& of_process() noexcept {
        static constinit T one;
        return one;
    }

    // Allocates an object that is never freed; null if memory is exhausted.
    template <class T>
    static T* make_for_good() noexcept {
        return new (std::nothrow) T;
    }

    // The number of attempts after which a waiting thread changes to a more expensive kind of wait.
    static constexpr int looks_before_sleep = 64;    // of parker
    static constexpr int looks_before_yield = 100;   // of spin_lock
    static constexpr int yields_before_sleep = 100;  // of spin_lock

    // A new biased_lock is reserved for a thread that has taken the lock `streak_before_reservation` + 1
    // times in a row.
    static constexpr std::uint32_t streak_before_reservation = 32;

    // Up to this capacity both ends of a channel share one lock (channel/channel_end.hpp).
    static constexpr std::size_t most_under_one_lock = 2;

    static constexpr std::size_t first_capacity = 256;  // of work_stealing_deque

  private:
    [[noreturn]] WEIR_NOINLINE static void end_without_fence() noexcept {
        std::fputs(
            "weir: the system call membarrier was allowed when the program began, and is refused now, so "
            "that no lock can be relied on; let the filter that was set since then (seccomp) allow it\n",
            stderr);
        std::abort();
    }
};

}  // namespace weir::detail

#endif
