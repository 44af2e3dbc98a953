// weir platform, internal: the smaller and the larger of two numbers, and times that never overflow
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_BOUNDS_HPP
#define WEIR_PLATFORM_BOUNDS_HPP

#include <weir/platform/requirements.hpp>

#include <bit>          // for std::bit_cast
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <stdexcept>    // for std::invalid_argument
#include <type_traits>  // for std::is_constant_evaluated

namespace weir::detail {

// std::min and std::max are in <algorithm>, behind which are the algorithms of std::ranges: a fifth of all
// that a compiler would have to read for task/task.hpp.
template <class T>
constexpr T smaller(T a, T b) noexcept {
    return b < a ? b : a;
}
template <class T>
constexpr T larger(T a, T b) noexcept {
    return a < b ? b : a;
}

// A number as another type of integer, which holds it. Of a cast a user's compiler would warn where both are
// one type (-Wuseless-cast), and elsewhere of its absence.
template <class To>
constexpr To number_as(auto n) noexcept {
    return static_cast<To>(n);
}

// Whether two numbers are the very same: to == compilers say that it is seldom meant (-Wfloat-equal).
constexpr bool are_equal(double a, double b) noexcept { return a <= b && a >= b; }

// Whether an unsigned number is what a negative one becomes: more than there can be of anything.
template <class T>
constexpr bool was_negative(T n) noexcept {
    return n > static_cast<T>(-1) / 2;
}

// Whether a number that a user gave is neither infinite nor NaN, told by its bits, as -ffast-math lets a
// compiler take each comparison for one of such numbers. It knows nothing of bits that it has to read again.
constexpr bool is_finite(double x) noexcept {
    constexpr std::uint64_t exponent = std::uint64_t{0x7ff} << 52U;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    if (std::is_constant_evaluated()) return (bits & exponent) != exponent;
    const volatile std::uint64_t read_again = bits;
    return (read_again & exponent) != exponent;
}

constexpr void refuse_if(bool wrong, const char* sentence) {
    if (wrong) throw std::invalid_argument(sentence);
}
template <class T>
constexpr void refuse_negative(T n, const char* sentence) {
    detail::refuse_if(was_negative(n), sentence);
}

// Of times in nanoseconds: a clock may be set to anything. How long it is from one instant to another, but 0
// where that comes before, and no longer than there is.
constexpr std::int64_t time_between(std::int64_t from, std::int64_t to) noexcept {
    if (to < from) return 0;
    return static_cast<std::int64_t>(
        smaller<std::uint64_t>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from), INT64_MAX));
}
// What is added up along a way from instant to instant, without a step back, is exact as an unsigned number,
// as the whole way is. So who adds pays nothing, and who reads takes what is too long for the longest.
constexpr std::int64_t add_way(std::int64_t sum, std::int64_t from, std::int64_t to) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(to) -
                                     static_cast<std::uint64_t>(from));
}
constexpr std::int64_t read_sum(std::int64_t sum) noexcept { return sum < 0 ? INT64_MAX : sum; }

}  // namespace weir::detail

#endif
