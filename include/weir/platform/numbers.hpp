// weir platform, internal: functions for numbers: minimum, conversions, checks, sums of times, random bits
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_NUMBERS_HPP
#define WEIR_PLATFORM_NUMBERS_HPP

#include <weir/platform/config.hpp>

#include <bit>          // for std::bit_cast
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <limits>       // for std::numeric_limits
#include <stdexcept>    // for std::invalid_argument
#include <type_traits>  // for std::is_constant_evaluated

namespace weir::detail {

// std::min and std::max are in <algorithm>, which brings the algorithms of std::ranges: a fifth of all lines
// that a compiler would read for task/task.hpp.
template <class T>
constexpr T smaller(T a, T b) noexcept {
    return b < a ? b : a;
}
template <class T>
constexpr T larger(T a, T b) noexcept {
    return a < b ? b : a;
}

// Converts to an integer type that holds the number, without a warning on any system: where the types are the
// same, -Wuseless-cast reports a cast; where they differ, -Wconversion reports a missing cast.
template <class To>
constexpr To number_as(auto n) noexcept {
    return static_cast<To>(n);
}

// Whether two numbers are equal, without a warning for == (-Wfloat-equal).
constexpr bool are_equal(double a, double b) noexcept { return a <= b && a >= b; }

// The nearest integer of a number that is not negative; halves go up. At most the greatest value of `To`, or
// 9.2e18 if that is less. Of NaN: 0. Not std::lround, which would need <cmath>.
template <class To>
constexpr To nearest(double n) noexcept {
    constexpr double most = smaller(static_cast<double>((std::numeric_limits<To>::max)()), 9.2e18);
    const double next = smaller(n, most) + 0.5;
    return are_equal(n, n) ? static_cast<To>(next) : To{0};
}

// Whether an unsigned number is probably a converted negative one: more than half of the type's range.
template <class T>
constexpr bool was_negative(T n) noexcept {
    return n > static_cast<T>(-1) / 2;
}

// Whether a number is neither infinite nor NaN, decided by its bits, as -ffast-math lets a compiler assume
// that every number is finite. The volatile copy keeps the compiler from this assumption.
constexpr bool is_finite(double x) noexcept {
    constexpr std::uint64_t exponent = std::uint64_t{0x7ff} << 52U;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    if (std::is_constant_evaluated()) return (bits & exponent) != exponent;
    const volatile std::uint64_t read_again = bits;
    return (read_again & exponent) != exponent;
}

// Throw std::invalid_argument with the sentence: `refuse_if` if `wrong`, `refuse_negative` if `n` was
// probably a negative number.
constexpr void refuse_if(bool wrong, const char* sentence) {
    if (wrong) throw std::invalid_argument(sentence);
}
template <class T>
constexpr void refuse_negative(T n, const char* sentence) {
    detail::refuse_if(was_negative(n), sentence);
}

// The time between any two instants in nanoseconds: 0 if `to` is before `from`, and at most INT64_MAX.
constexpr std::int64_t time_between(std::int64_t from, std::int64_t to) noexcept {
    if (to < from) return 0;
    return static_cast<std::int64_t>(
        smaller<std::uint64_t>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from), INT64_MAX));
}
// Adds the time from one instant to a later one to a sum of the times of disjoint intervals. The sum is exact
// modulo 2^64, and at most the time from the first instant to the last, so it needs no check for overflow. A
// sum above INT64_MAX appears negative: `read_sum` replaces such a sum by INT64_MAX.
constexpr std::int64_t add_interval(std::int64_t sum, std::int64_t from, std::int64_t to) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(to) -
                                     static_cast<std::uint64_t>(from));
}
constexpr std::int64_t read_sum(std::int64_t sum) noexcept { return sum < 0 ? INT64_MAX : sum; }

// A bijection in which a change of any bit changes each bit of the result with a probability of about a half.
// Source: D. Stafford, "Better bit mixing" (2011), variant 13.
constexpr std::uint64_t mix64(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

// Output number `counter`, counted from 0, of the SplitMix64 generator with this seed. Seeds that differ by a
// small multiple of the constant below give overlapping sequences: apply `subseed` to seeds that a user
// chooses.
// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
constexpr std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t counter) noexcept {
    return mix64(seed + (counter + 1) * 0x9e3779b97f4a7c15U);
}

// Derives one of many independent seeds from a seed; `use` selects which.
constexpr std::uint64_t subseed(std::uint64_t seed, std::uint64_t use) noexcept {
    return splitmix64(splitmix64(seed, 0), use);
}

// Returns the upper 64 bits of the 128-bit product of `a` and `b`. If `a` is uniformly random, the result is
// uniform in 0 to b - 1, except that each probability has a relative error below b / 2^64.
constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) noexcept {
    const std::uint64_t a0 = a & 0xffffffffU, a1 = a >> 32;
    const std::uint64_t b0 = b & 0xffffffffU, b1 = b >> 32;
    const std::uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    const std::uint64_t carry = a0 * b1 + (middle & 0xffffffffU);
    return a1 * b1 + (middle >> 32) + (carry >> 32);
}

// A hash of a sequence of words; not cryptographic.
class digest {
  public:
    constexpr digest& add(std::uint64_t word) noexcept {
        state_ = splitmix64(state_ ^ word, 0);
        return *this;
    }
    constexpr std::uint32_t value() const noexcept { return static_cast<std::uint32_t>(state_ >> 32); }

  private:
    std::uint64_t state_ = 0;
};

}  // namespace weir::detail

#endif
