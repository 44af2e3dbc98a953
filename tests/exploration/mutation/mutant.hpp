// What the text of a header that was mutated calls: is the mutant with this number the one that is tried?
// One build holds all mutants; $WEIR_MUTANT chooses one of them when a test program starts.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_MUTATION_MUTANT_HPP
#define WEIR_TESTS_MUTATION_MUTANT_HPP

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <concepts>
#include <cstdlib>
#include <type_traits>

namespace weir_mutants {

inline constexpr int most = 100'000;

inline int chosen = -1;
inline unsigned char* reached = nullptr;  // a byte for each mutant, in a file, so that also a crash leaves it

// Before all other constructors of static objects.
[[gnu::constructor(101)]] inline void begin() noexcept {
    if (const char* number = std::getenv("WEIR_MUTANT")) chosen = std::atoi(number);
    if (const char* file = std::getenv("WEIR_MUTANTS_REACHED")) {
        const int at = ::open(file, O_RDWR | O_CREAT, 0600);
        if (at < 0 || ::ftruncate(at, most) != 0) std::abort();
        void* const bytes = ::mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED, at, 0);
        if (bytes == MAP_FAILED) std::abort();
        reached = static_cast<unsigned char*>(bytes);
    }
}

// What the compiler evaluates stays as it is written.
constexpr bool on(int number) noexcept {
    if (std::is_constant_evaluated()) return false;
    if (reached != nullptr) __atomic_store_n(&reached[number], 1, __ATOMIC_RELAXED);  // by any thread
    return chosen == number;
}

template <class T>
constexpr T one_more(int number, const T& x) {
    static_assert((std::integral<T> && !std::same_as<T, bool>) || std::floating_point<T> ||
                      std::is_pointer_v<T> || requires { T::period::den; } || requires { typename T::clock; },
                  "not a mutant: no number");
    if (!on(number)) return x;
    if constexpr (requires { typename T::clock; }) {
        return x + typename T::duration(1);
    } else if constexpr (requires { T::period::den; }) {
        return x + T(1);
    } else {
        return static_cast<T>(x + 1);
    }
}

template <class T>
constexpr T negative(int number, const T& x) {
    static_assert((std::integral<T> && !std::same_as<T, bool>) || std::floating_point<T> || requires {
        T::period::den;
    }, "not a mutant: no number");
    if (!on(number)) return x;
    if constexpr (requires { T::period::den; }) {
        return -x;
    } else {
        return static_cast<T>(T() - x);
    }
}

}  // namespace weir_mutants

#endif
