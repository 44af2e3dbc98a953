// weir sampling: a random permutation of the numbers below n, given by a seed, in constant memory
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_PERMUTATION_HPP
#define WEIR_SAMPLING_PERMUTATION_HPP

#include <weir/platform/numbers.hpp>

#include <array>      // for std::array
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <stdexcept>  // for std::out_of_range

namespace weir {

/// A random permutation of the numbers 0 to n - 1. It is not stored: the number at a place, and the place of
/// a number, are computed. The same seed gives the same order on every platform and in every version of the
/// library. Over all seeds, each order is about equally frequent, if n! is much less than 2^64, the number of
/// seeds.
///
///     const weir::permutation order(1'000'000, 42);
///     for (std::uint64_t i = 0; i < order.size(); ++i) visit(order[i]);
///
/// For sampling, not for cryptography.
///
/// Threads: a value, like `int`. Cost: 80 bytes; 40 ns a place, up to 1.5 us if n < 50.
/// Source: J. Black, P. Rogaway, "Ciphers with arbitrary finite domains" (CT-RSA 2002): the
/// generalised Feistel network on two digits of base ceil(sqrt(n)), or 8 if n < 50, with cycle walking, which
/// takes few steps if n is not small; the round function is SplitMix64 (see `platform/numbers.hpp`).
class permutation {
  public:
    /// The empty permutation.
    constexpr permutation() noexcept = default;

    /// \param n  the number of numbers; may be 0.
    constexpr permutation(std::uint64_t n, std::uint64_t seed) noexcept : size_(n), side_(side_of(n)) {
        for (std::size_t r = 0; r < keys_.size(); ++r) keys_[r] = detail::subseed(seed, r);
    }

    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }  ///< the number of numbers

    /// The number at a place.
    /// \param place  below `size()`; this is not checked.
    [[nodiscard]] constexpr std::uint64_t operator[](std::uint64_t place) const noexcept {
        std::uint64_t x = place;
        do {
            x = forth(x);
        } while (x >= size_);
        return x;
    }

    /// The number at a place.
    /// Errors: `std::out_of_range` unless `place` is less than `size()`.
    [[nodiscard]] constexpr std::uint64_t at(std::uint64_t place) const {
        check_place(place);
        return (*this)[place];
    }

    /// The place of a number: `index_of(at(i)) == i`.
    /// Errors: `std::out_of_range` unless `number` is less than `size()`.
    [[nodiscard]] constexpr std::uint64_t index_of(std::uint64_t number) const {
        check_place(number);
        std::uint64_t x = number;
        do {
            x = back(x);
        } while (x >= size_);
        return x;
    }

    [[nodiscard]] friend constexpr bool operator==(const permutation&, const permutation&) = default;

  private:
    // The network permutes the numbers below side_ * side_, as two digits in base side_.
    constexpr std::uint64_t forth(std::uint64_t x) const noexcept {
        std::uint64_t left = x / side_, right = x % side_;
        for (const std::uint64_t key : keys_) {
            std::uint64_t sum = left + shift(key, right);
            if (sum >= side_) sum -= side_;
            left = right;
            right = sum;
        }
        return left * side_ + right;
    }
    constexpr std::uint64_t back(std::uint64_t x) const noexcept {
        std::uint64_t left = x / side_, right = x % side_;
        for (std::size_t r = keys_.size(); r-- != 0;) {
            const std::uint64_t less = shift(keys_[r], left);
            const std::uint64_t difference = right >= less ? right - less : right + side_ - less;
            right = left;
            left = difference;
        }
        return left * side_ + right;
    }

    // The number to add to one digit, computed from the other digit: 0 to side_ - 1. side_ is at most 2^32.
    constexpr std::uint64_t shift(std::uint64_t key, std::uint64_t digit) const noexcept {
        return ((detail::splitmix64(key, digit) >> 32) * side_) >> 32;
    }

    // 1 if n <= 1; else the smallest base of 8 or more whose square is at least n. With a base below 8, some
    // orders would be more frequent. For n below 64, cycle walking takes 64 / n steps on average, such as 32
    // for n = 2. These steps are cheaper than more rounds for all n.
    static constexpr std::uint64_t side_of(std::uint64_t n) noexcept {
        if (n <= 1) return 1;
        std::uint64_t root = 0;  // the greatest number whose square is at most n - 1
        for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit >>= 1) {
            if ((root | bit) * (root | bit) <= n - 1) root |= bit;
        }
        return root < least_side ? least_side : root + 1;
    }

    constexpr void check_place(std::uint64_t i) const {
        if (i >= size_) {
            throw std::out_of_range("weir: a permutation of n has places and numbers from 0 to n - 1");
        }
    }

    static constexpr std::size_t rounds = 8;
    static constexpr std::uint64_t least_side = 8;
    std::uint64_t size_ = 0;
    std::uint64_t side_ = 1;
    std::array<std::uint64_t, rounds> keys_{};
};

}  // namespace weir

#endif
