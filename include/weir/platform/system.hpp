// weir platform, internal: functions of the operating system and the processor, the same for all systems
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SYSTEM_HPP
#define WEIR_PLATFORM_SYSTEM_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/system_windows.hpp>

#include <atomic>   // for std::atomic
#include <cstdint>  // for std::int64_t
#include <mutex>    // for std::mutex

#if defined(__linux__)
#include <linux/futex.h>       // for FUTEX_WAIT_PRIVATE
#include <linux/membarrier.h>  // for MEMBARRIER_CMD_PRIVATE_EXPEDITED
#include <sys/prctl.h>         // for prctl
#include <sys/syscall.h>       // for SYS_futex, SYS_membarrier
#include <unistd.h>            // for syscall
#include <climits>             // for INT_MAX
#include <cstdio>              // for std::fopen
#include <ctime>               // for timespec
#elif !defined(_WIN32)
#include <chrono>  // for std::chrono::nanoseconds
#include <thread>  // for std::this_thread::sleep_for
#endif

#if __has_include(<unistd.h>) && !defined(_WIN32)
#include <pthread.h>       // for pthread_atfork, pthread_create, pthread_self
#include <sched.h>         // for sched_getaffinity, sched_yield
#include <sys/resource.h>  // for getrusage
#endif

#if defined(_MSC_VER)
#include <intrin.h>  // for _mm_pause, __rdtsc, __cpuid
#elif defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>  // for __get_cpuid
#endif

namespace weir::detail {

#if !defined(_WIN32)
using system_mutex = std::mutex;
#endif
#if !defined(_WIN32) || !defined(__GNUC__) || defined(__clang__)
struct objects_of_thread {  // thread-local objects, one of each type
    template <class T>
    static T& of_thread() noexcept {
        static thread_local T one;
        return one;
    }
};
#endif

// Tells the processor that this thread spins.
inline void cpu_pause() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _mm_pause();
#elif defined(_MSC_VER) && defined(_M_ARM64)
    __yield();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    asm volatile("yield" ::: "memory");
#endif
}

// The time-stamp counter of an x86 processor; otherwise 0.
inline std::uint64_t read_ticks() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    return __rdtsc();
#elif defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

// Whether the x86 counter (TSC) has a constant rate, and, on Linux, is the kernel's clock, so synchronised
// between cores. False on systems other than Linux and Windows, and on ARM, whose steady clock is as fast.
inline bool ticks_are_reliable() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    int words[4] = {};
    __cpuid(words, static_cast<int>(0x80000007));
    return (words[3] & 0x100) != 0;  // QueryPerformanceCounter relies on this bit, too
#elif defined(_WIN32) && (defined(__x86_64__) || defined(__i386__))
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 0x100) != 0;
#elif defined(__linux__) && (defined(__x86_64__) || defined(__i386__))
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & 0x100) == 0) return false;
    std::FILE* const file =
        std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    if (file == nullptr) return false;
    char name[4] = {};
    const bool read = std::fread(name, 1, 4, file) == 4;
    std::fclose(file);
    return read && name[0] == 't' && name[1] == 's' && name[2] == 'c' && name[3] == '\n';
#else
    return false;
#endif
}

// The time of std::chrono::steady_clock at the last tick of the system's timer (every 1 to 10 ms), at a
// quarter of the cost of that clock; 0 if the system has no such function.
inline std::int64_t coarse_clock_ns() noexcept {
#if defined(__linux__) && defined(CLOCK_MONOTONIC_COARSE)
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
#else
    return 0;
#endif
}

#if defined(__linux__)
// On 32-bit systems, another system call takes 64-bit times.
#if defined(SYS_futex_time64)
inline constexpr long futex_call = sizeof(timespec::tv_sec) > sizeof(long) ? SYS_futex_time64 : SYS_futex;
#else
inline constexpr long futex_call = SYS_futex;
#endif
#endif

// Lets this thread's waits end on time; by default Linux extends them by up to 50 us to wake less often.
inline void end_waits_on_time() noexcept {
#if defined(__linux__)
    prctl(PR_SET_TIMERSLACK, 1'000UL, 0UL, 0UL, 0UL);  // ns
#endif
}

// Blocks the thread while `word` holds `expected`, for at most `timeout_ns`, on Windows up to 1 ms longer
// (negative: no limit). May return early: the caller checks the word again.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t timeout_ns) noexcept {
    static_assert(sizeof(word) == 4);
#if defined(__linux__)
    timespec limit{};
    limit.tv_sec = number_as<decltype(limit.tv_sec)>(timeout_ns / 1'000'000'000);
    limit.tv_nsec = number_as<decltype(limit.tv_nsec)>(timeout_ns % 1'000'000'000);
    syscall(futex_call, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected,
            timeout_ns < 0 ? nullptr : &limit, nullptr, 0);
#elif defined(_WIN32)
    const std::int64_t ms = timeout_ns / 1'000'000 + 1;
    address_waits::get().wait(&word, &expected, sizeof(expected),
                              timeout_ns < 0
                                  ? 0xffffffffUL
                                  : static_cast<unsigned long>(smaller<std::int64_t>(ms, 1 << 30)));
#else
    // No public futex here (macOS has one since 14.4): without a limit std::atomic::wait, with one a loop of
    // growing sleeps. acquire; pairs with the release of the thread that changes the word
    if (timeout_ns < 0) return word.wait(expected, std::memory_order_acquire);
    for (std::int64_t step = 1'000; timeout_ns > 0; step = smaller<std::int64_t>(2 * step, 500'000)) {
        if (word.load(std::memory_order_acquire) != expected) return;
        const std::int64_t nap = smaller(step, timeout_ns);
        std::this_thread::sleep_for(std::chrono::nanoseconds(nap));
        timeout_ns -= nap;
    }
#endif
}

// Wakes one, or all, of the threads that block in `futex_wait` on this word. Uses only the address: the word
// may have been destroyed, if its owner woke up by itself.
inline void futex_wake(std::atomic<std::uint32_t>& word, bool all) noexcept {
#if defined(__linux__)
    syscall(futex_call, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, all ? INT_MAX : 1,
            nullptr, nullptr, 0);
#elif defined(_WIN32)
    (all ? address_waits::get().wake_all : address_waits::get().wake_one)(&word);
#else
    all ? word.notify_all() : word.notify_one();
#endif
}

// Like std::this_thread::get_id and yield, without <thread>, which is too heavy for task/task.hpp.
inline auto this_thread() noexcept {
#if __has_include(<unistd.h>) && !defined(_WIN32)
    return pthread_self();
#else
    return GetCurrentThreadId();
#endif
}
inline void yield_thread() noexcept {
#if __has_include(<unistd.h>) && !defined(_WIN32)
    sched_yield();
#else
    SwitchToThread();
#endif
}

// Starts a detached thread that calls `Function(argument)`; false: no thread could be started. Where the
// standard library uses winpthreads, so does this function. A thread from CreateThread would leave a lock of
// winpthreads held when it ends, and threads that end later would hang (winpthreads 10, Wine 8).
template <auto Function>
bool begin_thread(void* argument) noexcept {
#if (__has_include(<unistd.h>) && !defined(_WIN32)) || defined(WIN_PTHREADS_H)
    using any_function = void* (*)(void*);
    const any_function begin = [](void* it) -> void* { return Function(it), nullptr; };
    pthread_t thread;
    if (pthread_create(&thread, nullptr, begin, argument) != 0) return false;
    return pthread_detach(thread) == 0;
#else
    using any_function = unsigned long(__stdcall*)(void*);
    const any_function begin = [](void* it) -> unsigned long { return Function(it), 0; };
    void* const thread = CreateThread(nullptr, 0, begin, argument, 0, nullptr);
    return thread != nullptr && CloseHandle(thread) != 0;
#endif
}

// Names the calling thread for debuggers; Linux cuts the name to 15 characters. Only on Linux and macOS.
inline void name_thread(const char* name) noexcept {
#if defined(__linux__)
    prctl(PR_SET_NAME, name, 0UL, 0UL, 0UL);
#elif defined(__APPLE__)
    pthread_setname_np(name);
#else
    static_cast<void>(name);
#endif
}

// Registers a function that each forked process calls on its only thread. False: no memory.
inline bool at_fork_in_child(void (*function)()) noexcept {
#if __has_include(<unistd.h>) && !defined(_WIN32)
    return pthread_atfork(nullptr, nullptr, function) == 0;
#else
    static_cast<void>(function);
    return true;
#endif
}

// Resource usage of this process, summed over its threads; negative: unknown. Times in nanoseconds.
struct process_counts {
    std::int64_t user_time = -1;
    std::int64_t system_time = -1;
    std::int64_t minor_faults = -1;
    std::int64_t major_faults = -1;
    std::int64_t voluntary_switches = -1;
    std::int64_t involuntary_switches = -1;
    std::int64_t blocks_read = -1;  // blocks of 512 bytes from storage, if the system accounts for them
    std::int64_t blocks_written = -1;
};
inline process_counts count_process() noexcept {
    process_counts counts;
#if __has_include(<unistd.h>) && !defined(_WIN32)
    rusage r{};
    if (getrusage(RUSAGE_SELF, &r) != 0) return counts;
    const auto ns = [](const timeval& t) {
        return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_usec * 1'000;
    };
    counts = {ns(r.ru_utime), ns(r.ru_stime), r.ru_minflt, r.ru_majflt, r.ru_nvcsw, r.ru_nivcsw};
#if defined(__linux__)
    counts.blocks_read = r.ru_inblock;
    counts.blocks_written = r.ru_oublock;
#endif
#elif defined(_WIN32)
    const processor_times times = times_of_process();
    counts.user_time = times.user;
    counts.system_time = times.system;
#endif
    return counts;
}

// The number of processors in the thread's affinity mask (on Windows, the process's); 0: unknown.
inline unsigned usable_processors() noexcept {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
#elif defined(_WIN32)
    return processors_in_mask();
#endif
    return 0;
}

// Prepares the process for calls of `heavy_fence`, once. False: heavy fences are not available.
inline bool register_heavy_fence() noexcept {
#if defined(__linux__) && defined(SYS_membarrier)
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#elif defined(_WIN32)
    return !is_wine();
#else
    return false;
#endif
}

// A full fence on every running thread of the process. Takes 0.1 us, or 1.5 us if another thread runs. False:
// the system has no such call, or forbids it: a sandbox entered after register_heavy_fence() may do so.
inline bool heavy_fence() noexcept {
#if defined(__linux__) && defined(SYS_membarrier)
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
#elif defined(_WIN32)
    FlushProcessWriteBuffers();
    return true;
#else
    return false;
#endif
}

}  // namespace weir::detail

#endif
