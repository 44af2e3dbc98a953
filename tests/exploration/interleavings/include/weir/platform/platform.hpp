// Instead of the library's header of this name: the same, but that its platform is called `system_platform`, and
// `standard_platform`, which the whole library runs on, is the explorer's.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_INTERLEAVINGS_PLATFORM_HPP
#define WEIR_TESTS_INTERLEAVINGS_PLATFORM_HPP

#include "exploration/interleavings/explorer.hpp"

#pragma GCC system_header  // for the next line
#define standard_platform system_platform
#include_next <weir/platform/platform.hpp>
#undef standard_platform

namespace weir::detail {

struct standard_platform {
    template <class T>
    using atomic = interleavings::atomic<T>;
    using thread = interleavings::thread;
    using mutex = interleavings::mutex;
    using where = interleavings::where;

    static void wait(atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns = -1,
                     where w = where::current()) noexcept {
        interleavings::step("looks before it waits for", w);
        if (word.look(w) == expected) interleavings::wait(&word, timeout_ns, w);
    }
    // By the address only: the word may be gone.
    static void wake_one(atomic<std::uint32_t>& word, where w = where::current()) noexcept {
        interleavings::wake(&word, false, w);
    }
    static void wake_all(atomic<std::uint32_t>& word, where w = where::current()) noexcept {
        interleavings::wake(&word, true, w);
    }
    static std::uint32_t& num_wakes() noexcept {
        struct per_thread {
            std::uint32_t wakes = 0;
        };
        return of_thread<per_thread>().wakes;
    }

    static bool has_heavy_fence() noexcept { return interleavings::fences_work(); }
    static void light_fence(where w = where::current()) noexcept { interleavings::step("fences", w); }
    static void heavy_fence(where w = where::current()) noexcept { interleavings::step("fences all", w); }

    static void pause(where w = where::current()) noexcept { interleavings::spin(w); }
    static void yield(where w = where::current()) noexcept { interleavings::spin(w); }

    static std::int64_t now() noexcept { return interleavings::read_clock(); }
    static void mend_after_fork() noexcept {}  // no schedule forks
    static std::int64_t coarse_now() noexcept { return interleavings::count.now / 4'000'000 * 4'000'000; }
    static std::uint64_t seed() noexcept { return interleavings::draw(~std::uint64_t{0}); }
    static int this_thread() noexcept { return interleavings::this_thread(); }
    static void name_thread(const char*) noexcept {}
    static inline unsigned concurrency() noexcept;           // in system_thread.hpp
    static inline process_counts count_process() noexcept;   // in system_info.hpp
    static inline process_memory measure_memory() noexcept;  // in system_info.hpp
    static inline unsigned processors() noexcept;            // in system_info.hpp

    template <class T>
    static T& of_thread() noexcept {
        return *static_cast<T*>(interleavings::of_thread(
            interleavings::type_number<T>, []() -> void* { return new T; },
            [](void* p) { delete static_cast<T*>(p); }, std::is_trivially_destructible_v<T>));
    }
    template <class T>
    static T& of_process() noexcept {
        return *static_cast<T*>(interleavings::of_process(
            interleavings::type_number<T>, []() -> void* { return new T; },
            [](void* p) { delete static_cast<T*>(p); }));
    }
    template <class T>
    static T* make_for_good() noexcept {
        T* const object = new T;
        interleavings::keep_for_good(object, [](void* p) { delete static_cast<T*>(p); });
        return object;
    }

    // As small as they can be: what follows after them is of interest.
    static constexpr int looks_before_sleep = 1;
    static constexpr int looks_before_yield = 1;
    static constexpr int yields_before_sleep = 1;
    static constexpr std::uint32_t streak_before_reservation = 2;
    static constexpr std::size_t first_capacity = 2;
    static constexpr std::size_t most_under_one_lock = 1;
};

}  // namespace weir::detail

#endif
