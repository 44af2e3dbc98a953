// weir platform, internal: Windows functions that the library calls, declared without windows.h
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SYSTEM_WINDOWS_HPP
#define WEIR_PLATFORM_SYSTEM_WINDOWS_HPP

#include <weir/platform/config.hpp>

#include <cstdint>  // for std::int64_t

namespace weir::detail {

// The memory of a process in bytes, now and at its peak; negative: unknown.
struct process_memory {
    std::int64_t resident = -1;
    std::int64_t peak = -1;
};

}  // namespace weir::detail

// Tested with MinGW-w64 under Wine.
#if defined(_WIN32)
#include <atomic>       // for std::atomic
#include <bit>          // for std::popcount
#include <cstddef>      // for std::size_t
#include <cstdlib>      // for std::abort, std::atexit
#include <string>       // for std::wstring
#include <type_traits>  // for std::is_trivially_destructible_v
#include <utility>      // for std::exchange

// All functions below are in kernel32, which each compiler for Windows links. The declarations match those of
// windows.h, which a program may include as well.
struct HINSTANCE__;
struct _CONSOLE_SCREEN_BUFFER_INFO;
struct _FILETIME;
struct _MEMORYSTATUSEX;
struct _OVERLAPPED;
struct _PROCESS_MEMORY_COUNTERS;
struct _RTL_SRWLOCK;
struct _SECURITY_ATTRIBUTES;
extern "C" {
__declspec(dllimport) HINSTANCE__* __stdcall GetModuleHandleA(const char*);
__declspec(dllimport) std::intptr_t(__stdcall* __stdcall GetProcAddress(HINSTANCE__*, const char*))();
__declspec(dllimport) int __stdcall GetModuleHandleExA(unsigned long, const char*, HINSTANCE__**);
__declspec(dllimport) unsigned long __stdcall FlsAlloc(void(__stdcall*)(void*));
__declspec(dllimport) void* __stdcall FlsGetValue(unsigned long);
__declspec(dllimport) int __stdcall FlsSetValue(unsigned long, void*);
__declspec(dllimport) void __stdcall AcquireSRWLockExclusive(_RTL_SRWLOCK*);
__declspec(dllimport) void __stdcall ReleaseSRWLockExclusive(_RTL_SRWLOCK*);
__declspec(dllimport) void __stdcall FlushProcessWriteBuffers();
__declspec(dllimport) unsigned long __stdcall GetCurrentThreadId();
__declspec(dllimport) int __stdcall SwitchToThread();
__declspec(dllimport) void* __stdcall CreateThread(_SECURITY_ATTRIBUTES*, std::size_t,
                                                   unsigned long(__stdcall*)(void*), void*, unsigned long,
                                                   unsigned long*);
__declspec(dllimport) int __stdcall CloseHandle(void*);
__declspec(dllimport) void* __stdcall GetCurrentProcess();
__declspec(dllimport) int __stdcall GetProcessTimes(void*, _FILETIME*, _FILETIME*, _FILETIME*, _FILETIME*);
__declspec(dllimport) unsigned long __stdcall GetActiveProcessorCount(unsigned short);
__declspec(dllimport) int __stdcall GetProcessAffinityMask(void*, std::uintptr_t*, std::uintptr_t*);
__declspec(dllimport) int __stdcall K32GetProcessMemoryInfo(void*, _PROCESS_MEMORY_COUNTERS*, unsigned long);
__declspec(dllimport) int __stdcall GlobalMemoryStatusEx(_MEMORYSTATUSEX*);
__declspec(dllimport) int __stdcall GetComputerNameA(char*, unsigned long*);
__declspec(dllimport) int __stdcall MultiByteToWideChar(unsigned, unsigned long, const char*, int, wchar_t*,
                                                        int);
__declspec(dllimport) int __stdcall MoveFileExW(const wchar_t*, const wchar_t*, unsigned long);
__declspec(dllimport) unsigned long __stdcall GetLastError();
__declspec(dllimport) void __stdcall Sleep(unsigned long);
__declspec(dllimport) int __stdcall LockFileEx(void*, unsigned long, unsigned long, unsigned long,
                                               unsigned long, _OVERLAPPED*);
__declspec(dllimport) int __stdcall UnlockFileEx(void*, unsigned long, unsigned long, unsigned long,
                                                 _OVERLAPPED*);
__declspec(dllimport) int __stdcall GetConsoleMode(void*, unsigned long*);
__declspec(dllimport) int __stdcall SetConsoleMode(void*, unsigned long);
__declspec(dllimport) int __stdcall GetConsoleScreenBufferInfo(void*, _CONSOLE_SCREEN_BUFFER_INFO*);
__declspec(dllimport) int __stdcall WriteConsoleW(void*, const void*, unsigned long, unsigned long*, void*);
}

namespace weir::detail {

// WaitOnAddress and its relatives, of Windows 8. They are looked up at run time, because a program that calls
// them directly needs a library that MinGW doesn't link by default.
class address_waits {
  public:
    static const address_waits& get() noexcept {
        static const address_waits found;
        return found;
    }

    int(__stdcall* wait)(volatile void*, void*, std::size_t, unsigned long) = nullptr;
    void(__stdcall* wake_one)(void*) = nullptr;
    void(__stdcall* wake_all)(void*) = nullptr;

  private:
    address_waits() noexcept {
        find("WaitOnAddress", wait);
        find("WakeByAddressSingle", wake_one);
        find("WakeByAddressAll", wake_all);
    }
    template <class Function>
    static void find(const char* name, Function& function) noexcept {
        HINSTANCE__* const library = GetModuleHandleA("kernelbase.dll");
        function = reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(library, name)));
    }
};

// Converts a path to UTF-16. Paths of this library are UTF-8, whatever code page the process has.
inline std::wstring wide(const char* path) {
    const int size = MultiByteToWideChar(65001, 0, path, -1, nullptr, 0);
    std::wstring text(static_cast<std::size_t>(size > 0 ? size : 1), L'\0');
    MultiByteToWideChar(65001, 0, path, -1, text.data(), size);
    text.pop_back();
    return text;
}

// Moves a file over another one. That fails while a program, such as a virus scanner, reads the other one: so
// tries again for a second. Returns whether the file was moved.
inline bool replace_file(const wchar_t* from, const wchar_t* to) noexcept {
    constexpr unsigned long replace = 1, access_denied = 5, sharing_violation = 32;
    for (int attempt = 1; MoveFileExW(from, to, replace) == 0; ++attempt) {
        const unsigned long why = GetLastError();
        if (attempt == 100 || (why != access_denied && why != sharing_violation)) return false;
        Sleep(10);
    }
    return true;
}

// A mutex with constant initialisation, for global objects that initialisers of other files may use: in some
// standard libraries for Windows the constructor of std::mutex runs code.
class system_mutex {
  public:
    constexpr system_mutex() noexcept = default;
    system_mutex(const system_mutex&) = delete;
    system_mutex& operator=(const system_mutex&) = delete;

    void lock() noexcept { AcquireSRWLockExclusive(reinterpret_cast<_RTL_SRWLOCK*>(&word_)); }
    void unlock() noexcept { ReleaseSRWLockExclusive(reinterpret_cast<_RTL_SRWLOCK*>(&word_)); }

  private:
    void* word_ = nullptr;  // an SRWLOCK
};

#if defined(__GNUC__) && !defined(__clang__)
// A replacement for `thread_local`: g++ for Windows frees thread-local variables before it calls their
// destructors (GCC PR 83562). The objects are on the heap, in a table that the system passes to a callback
// when the thread, or a fiber, ends. They are destroyed in reverse order; each destructor can use the objects
// that remain.
class thread_objects {
  public:
    template <class T>
    static T& get() noexcept {
        // relaxed: only has to be unique
        static const std::size_t index = kinds_.fetch_add(1, std::memory_order_relaxed);
        if (index >= most) std::abort();
        thread_objects& mine = here();
        entry& e = mine.entries_[index];
        if (e.object == nullptr) {
            e.object = new T;
            e.destroy = [](void* object) { delete static_cast<T*>(object); };
            e.earlier = std::exchange(std::is_trivially_destructible_v<T> ? mine.plain_ : mine.last_, &e);
        }
        return *static_cast<T*>(e.object);
    }

  private:
    static constexpr std::size_t most = 64;  // types

    struct entry {
        void* object = nullptr;
        void (*destroy)(void*) = nullptr;
        entry* earlier = nullptr;
    };

    static thread_objects& here() noexcept {
        static const unsigned long slot = [] {
            HINSTANCE__* whole = nullptr;  // a DLL with this code is never unloaded
            GetModuleHandleExA(5, reinterpret_cast<const char*>(&end_thread), &whole);
            slot_ = FlsAlloc(&end_thread);
            std::atexit(&end_process);
            return slot_;
        }();
        auto* mine = static_cast<thread_objects*>(FlsGetValue(slot));
        if (mine == nullptr) {
            mine = new thread_objects;
            FlsSetValue(slot, mine);
        }
        return *mine;
    }
    static void end_all(entry*& last) {
        while (entry* const e = last) {
            last = e->earlier;
            e->destroy(e->object);
            e->object = nullptr;
        }
    }
    // Called by std::exit, on the thread that has called std::exit. Destroys the objects of this thread that
    // have destructors. Static objects that were constructed before the call of std::atexit above still
    // exist.
    static void end_process() {
        if (auto* const mine = static_cast<thread_objects*>(FlsGetValue(slot_))) end_all(mine->last_);
    }
    static void __stdcall end_thread(void* table) {
        auto* const mine = static_cast<thread_objects*>(table);
        FlsSetValue(slot_, mine);  // so that the destructors find the table
        end_all(mine->last_);
        end_all(mine->plain_);
        FlsSetValue(slot_, nullptr);
        delete mine;
    }

    inline static std::atomic<std::size_t> kinds_{0};  // types that have an index
    inline static unsigned long slot_ = 0;
    entry entries_[most];
    entry* last_ = nullptr;   // the latest of the objects with a destructor
    entry* plain_ = nullptr;  // objects without a destructor, which other destructors may use
};
struct objects_of_thread {
    template <class T>
    static T& of_thread() noexcept {
        return thread_objects::get<T>();
    }
};
#endif

// Whether the program runs under Wine. Wine 8 has an empty FlushProcessWriteBuffers, and its console prints
// escape sequences as text.
inline bool is_wine() noexcept {
    return GetProcAddress(GetModuleHandleA("ntdll.dll"), "wine_get_version") != nullptr;
}

struct processor_times {
    std::int64_t user = -1;
    std::int64_t system = -1;
};
// Processor time of this process in nanoseconds; negative: unknown.
inline processor_times times_of_process() noexcept {
    std::uint64_t t[4] = {};  // creation, exit, system time, user time; in units of 100 ns
    const auto at = [&t](int i) { return reinterpret_cast<_FILETIME*>(t + i); };
    if (GetProcessTimes(GetCurrentProcess(), at(0), at(1), at(2), at(3)) == 0) return {};
    return {static_cast<std::int64_t>(t[3]) * 100, static_cast<std::int64_t>(t[2]) * 100};
}

inline process_memory memory_of_process() noexcept {
    struct {  // a PROCESS_MEMORY_COUNTERS
        unsigned long size;
        unsigned long faults;
        std::size_t peak;
        std::size_t resident;
        std::size_t rest[6];
    } counters{};
    counters.size = sizeof counters;
    const auto into = reinterpret_cast<_PROCESS_MEMORY_COUNTERS*>(&counters);
    if (K32GetProcessMemoryInfo(GetCurrentProcess(), into, sizeof counters) == 0) return {};
    return {static_cast<std::int64_t>(counters.resident), static_cast<std::int64_t>(counters.peak)};
}

// The memory of the machine in bytes; 0: unknown.
inline std::uint64_t memory_of_windows() noexcept {
    struct {  // a MEMORYSTATUSEX
        unsigned long size;
        unsigned long load;
        std::uint64_t all;
        std::uint64_t rest[6];
    } status{};
    status.size = sizeof status;
    return GlobalMemoryStatusEx(reinterpret_cast<_MEMORYSTATUSEX*>(&status)) == 0 ? 0 : status.all;
}

// The number of processors in the affinity mask of this process; 0: unknown. A mask has 64 bits: if it has
// all processors of its group, all processors of the machine count. Ignores the limit of a job.
inline unsigned processors_in_mask() noexcept {
    std::uintptr_t own = 0;
    std::uintptr_t all = 0;
    if (GetProcessAffinityMask(GetCurrentProcess(), &own, &all) == 0) return 0;
    constexpr unsigned short all_groups = 0xffff;
    return own == all ? GetActiveProcessorCount(all_groups) : static_cast<unsigned>(std::popcount(own));
}

}  // namespace weir::detail
#else
namespace weir::detail {
inline process_memory memory_of_process() noexcept { return {}; }
}  // namespace weir::detail
#endif

#endif
