// Compiled by itself: it includes windows.h.
#include <weir/platform/system_windows.hpp>

#include <weir/platform/platform.hpp>

#include "support/catch.hpp"

#include <mutex>
#include <string>
#include <thread>

#if defined(_WIN32)
#include <windows.h>  // behind what the library declares of it

#include <bit>
#include <cstdint>
#endif

namespace detail = weir::detail;

namespace {

// What each destructor saw, in turn.
std::string ended;

struct first_of_thread {
    int uses = 0;
    first_of_thread() = default;
    first_of_thread(const first_of_thread&) = delete;
    first_of_thread& operator=(const first_of_thread&) = delete;
    ~first_of_thread() { ended += "first, used " + std::to_string(uses) + " times;"; }
};
struct second_of_thread {
    int uses = 0;
    second_of_thread() = default;
    second_of_thread(const second_of_thread&) = delete;
    second_of_thread& operator=(const second_of_thread&) = delete;
    ~second_of_thread() {
        ++detail::objects_of_thread::of_thread<first_of_thread>().uses;
        ended += "second, used " + std::to_string(uses) + " times;";
    }
};

}  // namespace

TEST_CASE("an object of a thread is found until it is destroyed, at the thread's end, the last one first") {
    ended.clear();
    std::thread([] {
        detail::objects_of_thread::of_thread<first_of_thread>().uses += 2;
        detail::objects_of_thread::of_thread<second_of_thread>().uses += 1;
        ++detail::objects_of_thread::of_thread<first_of_thread>().uses;
    }).join();
    CHECK(ended == "second, used 1 times;first, used 4 times;");
    ended.clear();
}

TEST_CASE("a mutex of the system can be an object that is there before the program begins") {
    static constinit detail::system_mutex lock;
    int n = 0;
    std::thread other([&n] {
        for (int i = 0; i < 1000; ++i) {
            const std::lock_guard guard(lock);
            ++n;
        }
    });
    for (int i = 0; i < 1000; ++i) {
        const std::lock_guard guard(lock);
        ++n;
    }
    other.join();
    CHECK(n == 2000);
}

#if defined(_WIN32)
TEST_CASE("what is looked up of Windows is there") {
    const detail::address_waits& found = detail::address_waits::get();
    CHECK(found.wait != nullptr);
    CHECK(found.wake_one != nullptr);
    CHECK(found.wake_all != nullptr);
}

TEST_CASE("the times of a process grow while it works, and are those of all its threads") {
    const detail::processor_times before = detail::times_of_process();
    CHECK(before.user >= 0);
    CHECK(before.system >= 0);
    std::thread([&before] {
        while (detail::times_of_process().user == before.user) {
        }
    }).join();
    CHECK(detail::times_of_process().user > before.user);
}

TEST_CASE("what a process has of memory, and the machine, is told") {
    const detail::process_memory mine = detail::memory_of_process();
    CHECK(mine.resident > 0);
    CHECK(mine.peak >= mine.resident);
    CHECK(static_cast<std::uint64_t>(mine.resident) < detail::memory_of_windows());
}

TEST_CASE("the affinity mask of a process says how many processors it has, where it is narrower") {
    DWORD_PTR own = 0;
    DWORD_PTR all = 0;
    REQUIRE(GetProcessAffinityMask(GetCurrentProcess(), &own, &all) != 0);
    CHECK(detail::processors_in_mask() == (own == all ? GetActiveProcessorCount(ALL_PROCESSOR_GROUPS)
                                                      : static_cast<unsigned>(std::popcount(own))));
    if (SetProcessAffinityMask(GetCurrentProcess(), own & (~own + 1)) != 0 && own != (own & (~own + 1))) {
        CHECK(detail::processors_in_mask() == 1);
        SetProcessAffinityMask(GetCurrentProcess(), own);
    }
}

TEST_CASE("the fence of all threads is not relied on under Wine, where it is empty") {
    const bool wine = GetProcAddress(GetModuleHandleA("ntdll.dll"), "wine_get_version") != nullptr;
    CHECK(detail::is_wine() == wine);
    CHECK(detail::standard_platform::has_heavy_fence() == !wine);
}
#endif
