// weir platform, internal: everything that differs between compilers and systems; every `#if` of the library
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_CONFIG_HPP
#define WEIR_PLATFORM_CONFIG_HPP

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "weir: needs C++20; compile with -std=c++20 (MSVC: /std:c++20)"
#endif

#if !defined(__cpp_exceptions) && !defined(__EXCEPTIONS) && !defined(_CPPUNWIND)
#error "weir: needs exceptions: what a stage throws is how it fails; compile without -fno-exceptions"
#endif

#include <version>  // for the library's feature macros

#if !defined(__cpp_impl_coroutine) && !defined(__cpp_lib_coroutine)
#error "weir: this compiler has no C++20 coroutines; use g++ 12, clang 16 or later"
#endif

#include <atomic>   // for std::atomic
#include <cstdint>  // for std::int64_t

#if defined(__linux__)
#include <linux/futex.h>       // for FUTEX_WAIT_PRIVATE
#include <linux/membarrier.h>  // for MEMBARRIER_CMD_PRIVATE_EXPEDITED
#include <sys/prctl.h>         // for prctl
#include <sys/syscall.h>       // for SYS_futex, SYS_membarrier
#include <unistd.h>            // for syscall
#include <climits>             // for INT_MAX
#include <cstdio>              // for std::fopen
#include <ctime>               // for timespec
#elif defined(_WIN32)
// Written after the functions' documentation, as what is for macOS is, and compiled by nobody here yet. MinGW
// doesn't know the pragma: link with -lsynchronization. The types are those of windows.h, which may be
// included, too.
#include <algorithm>  // for std::min
#if defined(_WIN64)
extern "C"
    __declspec(dllimport) int __stdcall WaitOnAddress(volatile void*, void*, std::size_t, unsigned long);
#else
extern "C"
    __declspec(dllimport) int __stdcall WaitOnAddress(volatile void*, void*, unsigned long, unsigned long);
#endif
extern "C" __declspec(dllimport) void __stdcall FlushProcessWriteBuffers();
extern "C" __declspec(dllimport) unsigned long __stdcall GetCurrentThreadId();
extern "C" __declspec(dllimport) int __stdcall SwitchToThread();
extern "C"
    __declspec(dllimport) void* __stdcall CreateThread(void*, std::size_t, unsigned long(__stdcall*)(void*),
                                                       void*, unsigned long, unsigned long*);
extern "C" __declspec(dllimport) void __stdcall WakeByAddressAll(void*);
extern "C" __declspec(dllimport) void __stdcall WakeByAddressSingle(void*);
#pragma comment(lib, "Synchronization.lib")
#else
#include <algorithm>  // for std::min
#include <chrono>     // for std::chrono::nanoseconds
#include <thread>     // for std::this_thread::sleep_for
#endif

#if __has_include(<unistd.h>) && !defined(_WIN32)
#include <pthread.h>  // for pthread_atfork, pthread_create, pthread_self
#include <sched.h>    // for sched_yield
#endif

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>  // for abi::__cxa_demangle
#include <cstdlib>   // for std::free
#endif
#include <string>    // for std::string
#include <typeinfo>  // for typeid

#if defined(_MSC_VER)
#include <intrin.h>  // for _mm_pause, __rdtsc, __cpuid
#elif defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>  // for __get_cpuid
#endif

// Keeps a function out of its caller: an address of thread-local data that it computes is then
// computed anew on each call, also when a coroutine has changed threads in between.
#if defined(_MSC_VER) && !defined(__clang__)
#define WEIR_NOINLINE __declspec(noinline)
#else
#define WEIR_NOINLINE [[gnu::noinline]]
#endif

// Puts a function into its caller, where the compiler would rather call it: see the places that say so.
#if defined(_MSC_VER) && !defined(__clang__)
#define WEIR_ALWAYS_INLINE __forceinline
#else
#define WEIR_ALWAYS_INLINE [[gnu::always_inline]] inline
#endif

// Which Asio the headers in asio/ are for: the one of its own where it is found, else Boost's; Boost's at
// once where WEIR_USE_BOOST_ASIO is defined. They are of different types then, so that both may be in one
// program. Nothing is included unless such a header is.
// NOLINTBEGIN(bugprone-macro-parentheses): a header's name
#if defined(WEIR_USE_BOOST_ASIO) || !__has_include(<asio/io_context.hpp>)
#define WEIR_ASIO_FILE(name) <boost/asio/name>
#define WEIR_ASIO_LIBRARY boost::asio
#define WEIR_ASIO_KIND with_boost
#else
#define WEIR_ASIO_FILE(name) <asio/name>
#define WEIR_ASIO_LIBRARY asio
#define WEIR_ASIO_KIND standalone
#endif
// NOLINTEND(bugprone-macro-parentheses)

// Where std::format is, for weir/report/format.hpp.
#if defined(__cpp_lib_format)
#define WEIR_FORMAT_FILE <format>
namespace weir::detail {
inline constexpr bool has_format = true;
}
#else
#define WEIR_FORMAT_FILE <version>
namespace weir::detail {
inline constexpr bool has_format = false;
}
#endif

namespace weir::detail {

// Gives the pointer back by way of a register. Of two pointers that are moved side by side g++ makes
// one load of 16 bytes; right behind the two stores of 8 that put them there, it waits 4 ns for those.
template <class T>
T* in_register(T* p) noexcept {
#if defined(__GNUC__)
    asm("" : "+r"(p));
#endif
    return p;
}

// What the compiler calls this function: the name of T is in it.
template <class T>
constexpr const char* signature_with() noexcept {
#if defined(_MSC_VER) && !defined(__clang__)
    return __FUNCSIG__;
#else
    return __PRETTY_FUNCTION__;
#endif
}

// What `typeid(...).name()` gives, as it is written in a program.
inline std::string demangled(const char* name) {
#if __has_include(<cxxabi.h>)
    char* const text = abi::__cxa_demangle(name, nullptr, nullptr, nullptr);
    const std::string result = text == nullptr ? name : text;
    std::free(text);
    return result;
#else
    return name;
#endif
}

// What an object's own type is called, and whether it is that of another one. Where the compiler was told to
// know nothing of that (-fno-rtti), it is null, and all are of one type.
template <class T>
const char* name_of_type_of([[maybe_unused]] const T& object) noexcept {
#if defined(__cpp_rtti) || defined(_CPPRTTI)
    return typeid(object).name();
#else
    return nullptr;
#endif
}
template <class T>
bool are_of_one_type([[maybe_unused]] const T& a, [[maybe_unused]] const T& b) noexcept {
#if defined(__cpp_rtti) || defined(_CPPRTTI)
    return typeid(a) == typeid(b);
#else
    return true;
#endif
}

// A sanitizer has to see each allocation.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool pools_frames = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool pools_frames = false;
#else
inline constexpr bool pools_frames = true;
#endif
#else
inline constexpr bool pools_frames = true;
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

// The processor's time-stamp counter.
inline std::uint64_t read_ticks() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    return __rdtsc();
#elif defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

// Whether that runs at one rate, in all cores alike: the processor says the first, and the system the
// second by taking its own time from it. (On ARM the steady clock is as fast.)
inline bool ticks_are_reliable() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    int words[4] = {};
    __cpuid(words, static_cast<int>(0x80000007));
    return (words[3] & 0x100) != 0;  // QueryPerformanceCounter relies on it likewise
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

// The clock of std::chrono::steady_clock as of the last tick of the system's timer (4 ms here), read
// in a quarter of the time; 0 where there is none.
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
// Where a time has more bits than a register, the call that takes such a time is another one.
#if defined(SYS_futex_time64)
inline constexpr long futex_call = sizeof(timespec::tv_sec) > sizeof(long) ? SYS_futex_time64 : SYS_futex;
#else
inline constexpr long futex_call = SYS_futex;
#endif
#endif

// Lets the waits of this thread end on time: Linux makes them up to 50 us longer, to wake less often.
inline void end_waits_on_time() noexcept {
#if defined(__linux__)
    prctl(PR_SET_TIMERSLACK, 1'000UL, 0UL, 0UL, 0UL);  // ns
#endif
}

// Blocks the thread while `word` holds `expected`, for at most `timeout_ns` (negative: without a
// limit). May return early: the caller looks at the word again.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t timeout_ns) noexcept {
    static_assert(sizeof(word) == 4);
#if defined(__linux__)
    timespec limit{};
    limit.tv_sec = static_cast<decltype(limit.tv_sec)>(timeout_ns / 1'000'000'000);
    limit.tv_nsec = static_cast<decltype(limit.tv_nsec)>(timeout_ns % 1'000'000'000);
    syscall(futex_call, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected,
            timeout_ns < 0 ? nullptr : &limit, nullptr, 0);
#elif defined(_WIN32)
    const std::int64_t ms = timeout_ns / 1'000'000 + 1;
    WaitOnAddress(&word, &expected, sizeof(expected),
                  timeout_ns < 0 ? 0xffffffffUL
                                 : static_cast<unsigned long>(std::min<std::int64_t>(ms, 1 << 30)));
#else
    // No public futex here (macOS has one since 14.4): without a limit the standard's own wait, with one a
    // sleep that grows. acquire; pairs with whoever changes the word
    if (timeout_ns < 0) return word.wait(expected, std::memory_order_acquire);
    for (std::int64_t step = 1'000; timeout_ns > 0; step = std::min<std::int64_t>(2 * step, 500'000)) {
        if (word.load(std::memory_order_acquire) != expected) return;
        const std::int64_t nap = std::min(step, timeout_ns);
        std::this_thread::sleep_for(std::chrono::nanoseconds(nap));
        timeout_ns -= nap;
    }
#endif
}

// Wakes one thread, or all, that blocks in `futex_wait` on this word. The word may be gone by
// then (its owner woke by itself): only the address is used.
inline void futex_wake(std::atomic<std::uint32_t>& word, bool all) noexcept {
#if defined(__linux__)
    syscall(futex_call, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, all ? INT_MAX : 1,
            nullptr, nullptr, 0);
#elif defined(_WIN32)
    all ? WakeByAddressAll(&word) : WakeByAddressSingle(&word);
#else
    all ? word.notify_all() : word.notify_one();
#endif
}

// Which thread this is, and letting another one go first: <thread> has both, and a semaphore, a stop token
// and more, which whoever only awaits something would compile, too.
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

// Starts a thread that nobody waits for. <thread> would be compiled by whoever uses a channel.
inline bool begin_thread(void (*function)()) noexcept {
#if __has_include(<unistd.h>) && !defined(_WIN32)
    using any_function = void* (*)(void*);
    const any_function begin = [](void* what) -> void* {
        reinterpret_cast<void (*)()>(what)();
        return nullptr;
    };
    pthread_t thread;
    if (pthread_create(&thread, nullptr, begin, reinterpret_cast<void*>(function)) != 0) return false;
    return pthread_detach(thread) == 0;
#else
    using any_function = unsigned long(__stdcall*)(void*);
    const any_function begin = [](void* what) -> unsigned long {
        reinterpret_cast<void (*)()>(what)();
        return 0;
    };
    return CreateThread(nullptr, 0, begin, reinterpret_cast<void*>(function), 0, nullptr) != nullptr;
#endif
}

// Has a function called in each process that is forked from this one, by the one thread that is there.
inline bool at_fork_in_child(void (*function)()) noexcept {
#if __has_include(<unistd.h>) && !defined(_WIN32)
    return pthread_atfork(nullptr, nullptr, function) == 0;
#else
    static_cast<void>(function);
    return true;
#endif
}

// Whether `heavy_fence` works here; asks for it, once a process.
inline bool register_heavy_fence() noexcept {
#if defined(__linux__) && defined(SYS_membarrier)
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#elif defined(_WIN32)
    return true;
#else
    return false;
#endif
}

// A full fence on every thread of the process that runs now: 0.1 us, 1.5 us if another one does. False if
// there was none: a sandbox may have been closed since it was asked for.
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
